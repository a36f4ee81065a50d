const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A horizontal bar of `width` characters for the share 1. Whatever is above 0 shows something. */
export function bar(share: number, width: number): string {
  if (!(share > 0)) return '';
  const parts = Math.max(1, Math.round(Math.min(1, share) * width * 8));
  return '█'.repeat(Math.floor(parts / 8)) + eighths[parts % 8];
}
