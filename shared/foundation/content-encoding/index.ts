export { encodingNamed, encodingNames } from './encodings.ts';
export { AnswerNotDecoded, plainBytes } from './plain-bytes.ts';
