'use strict';
// Without a validator badge, which would ask a server on the internet.
const internal = new URLSearchParams(location.search).get('api') === 'internal';
const own = document.querySelector(`nav a[href="/docs${internal ? '?api=internal' : ''}"]`);
if (own) own.setAttribute('aria-current', 'page');
SwaggerUIBundle({
  url: internal ? '/api/v1/openapi.json' : '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
});
