/** A length of time to its two largest units: 3d 4h, 2m 5s, 12s. */
export function formatAge(durationMs: number): string {
  let seconds = Math.max(0, Math.round(durationMs / 1000));
  const parts: string[] = [];
  for (const [unit, length] of [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(seconds / length);
    seconds -= count * length;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}
