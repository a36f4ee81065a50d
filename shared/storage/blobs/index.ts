export { type BlobCallOptions, type BlobStore, blobLifeSeconds } from './blob-store.ts';
export { type FolderBlobsOptions, folderBlobs } from './folder-blobs.ts';
export { memoryBlobs } from './memory-blobs.ts';
export { inlineMaxBytes, type PackedText, packText, unpackText } from './packed-text.ts';
export { blobMaxBytes, s3Blobs } from './s3-blobs.ts';
