use parlour_domain::picture::{Picture, SIDE};

/// A picture as a PNG of two colours: some 300 bytes.
pub(super) fn png(picture: &Picture) -> Result<Vec<u8>, png::EncodingError> {
    let side = u32::try_from(SIDE).unwrap_or_default();
    let mut bytes = vec![];
    let mut encoder = png::Encoder::new(&mut bytes, side, side);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_palette([picture.ground, picture.ink].concat());
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rows(picture))?;
    writer.finish()?;
    Ok(bytes)
}

/// A bit a pixel, each row in whole bytes.
fn rows(picture: &Picture) -> Vec<u8> {
    let byte = |y: usize, at: usize| {
        (0..8).fold(0_u8, |byte, bit| byte << 1 | u8::from(picture.is_ink(at * 8 + bit, y)))
    };
    (0..SIDE).flat_map(|y| (0..SIDE.div_ceil(8)).map(move |at| byte(y, at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_as_it_was_drawn() {
        let picture = Picture::of_the_bridge();
        let bytes = png(&picture).unwrap();
        assert!(bytes.len() < 600, "{} bytes", bytes.len());
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut read = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut read).unwrap();
        assert_eq!((info.width as usize, info.height as usize), (SIDE, SIDE));
        assert_eq!(read[..info.buffer_size()], rows(&picture));
    }
}
