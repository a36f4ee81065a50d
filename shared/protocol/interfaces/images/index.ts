export { imageEdits, images } from './images.ts';
export { imageItems } from './images-answer.ts';
export { imageFormFields, imageOptions, imagesSchema } from './images-request.ts';
