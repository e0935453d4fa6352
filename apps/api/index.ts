export { createApi, type Api } from './server.js';
export { placeOf, projectOf } from './place.js';
export { PROTOCOL_HEADER, VERSION_HEADER } from './answers.js';
export type { ApiResources, Log, OutputPart, PlaceKind } from './resources.js';
