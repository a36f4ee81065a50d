import type { ComponentChildren } from 'preact';

interface DescriptionListProperties {
  /** `totals` are large and next to each other. */
  readonly kind: 'facts' | 'totals';
  readonly entries: readonly (readonly [title: string, value: ComponentChildren])[];
}

export const DescriptionList = ({ kind, entries }: DescriptionListProperties) => (
  <dl class={kind}>
    {entries.map(([title, value]) => (
      <div key={title}>
        <dt>{title}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
