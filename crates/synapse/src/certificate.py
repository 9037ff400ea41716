"""Prints a TLS key and a certificate for it that nobody else signed, as PEM. Synapse brings what this imports."""
import datetime
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

key = ec.generate_private_key(ec.SECP256R1())
name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a homeserver of a test")])
now = datetime.datetime.now(datetime.timezone.utc)
certificate = (
    x509.CertificateBuilder()
    .subject_name(name)
    .issuer_name(name)
    .public_key(key.public_key())
    .serial_number(x509.random_serial_number())
    # The clocks of both sides are one, but a certificate that begins this second may be one of the future.
    .not_valid_before(now - datetime.timedelta(days=1))
    .not_valid_after(now + datetime.timedelta(days=3650))
    .sign(key, hashes.SHA256())
)
pem = serialization.Encoding.PEM
sys.stdout.buffer.write(certificate.public_bytes(pem))
sys.stdout.buffer.write(
    key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
)
