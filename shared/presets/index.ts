export { type AppliedPreset, applyPreset } from './apply-preset.ts';
