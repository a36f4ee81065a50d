export { namesFunction, readModel } from './asked-model.ts';
export type * from './client-interface.ts';
export { closeBrokenStream } from './close-broken-stream.ts';
export { passesAnything } from './passed-on.ts';
