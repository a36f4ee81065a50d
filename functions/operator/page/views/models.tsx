// Models and the providers they are called at, with how each does now.
export const ModelsView = () => <p>…</p>;
