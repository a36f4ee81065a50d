/**
 * Message for a request without a valid operator's credential, from the operator function and from CloudFront in front
 * of it.
 */
export const operatorKeyRefusal =
  'This needs an operator key that is active, sent as `Authorization: Bearer <key>` (gw operators create), or the token of a person who has signed in.';
