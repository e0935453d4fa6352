export { createApi, type Api } from './server.js';
export { placeOf, projectOf } from './place.js';
export type { ApiResources, Log, OutputPart, PlaceKind } from './resources.js';
