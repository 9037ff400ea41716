"use strict";
const place = document.getElementById("reference");
SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // nothing leaves this server, and a token is forgotten with the page
  validatorUrl: null,
  persistAuthorization: false,
});
