/** The paths of the interface (spec 4). */
export const routePaths = { chatCompletions: '/v1/chat/completions', models: '/v1/models' } as const;
