export { inAskedForm, loadSpeechForm } from './in-asked-form.ts';
export { failureOfAnswer, unreadableAnswer } from './read-failure.ts';
export { receivingSend } from './received-form.ts';
