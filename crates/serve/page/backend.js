// Who answers the page: here its server. The site that has none puts another file in this one's place (crates/serve/site/backend.js).

// As `fetch`, of paths beside the page.
export const send = (path, options) => fetch(path, options);
// Where photos are read, in words; whether there is a server that programs can ask.
export const whereabouts = "Photos stay on the machine that runs this server.", hasServer = true;
