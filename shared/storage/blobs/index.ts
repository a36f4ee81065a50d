export { type BlobCallOptions, type BlobStore, blobLifeMs, memoryBlobs, sweepHourly } from './blob-store.ts';
export { folderBlobs } from './folder-blobs.ts';
export { inlineMaxBytes, packText, textBytesIn, unpackText } from './packed-text.ts';
export { s3Blobs } from './s3-blobs.ts';
export { tableBlobs } from './table-blobs.ts';
