import { describe, expect, it } from '@jest/globals';
import { recomputeSignature } from '../../support/recompute-signature.ts';

describe('the check of signatures in these tests', () => {
  it('comes to the signature that AWS documents for its own example', () => {
    const request = {
      method: 'GET',
      target: '/?Action=ListUsers&Version=2010-05-08',
      headers: {
        host: 'iam.amazonaws.com',
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
        'x-amz-date': '20150830T123600Z',
        authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=${'0'.repeat(64)}`,
      },
      body: new Uint8Array(),
    };
    expect(recomputeSignature(request, 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')).toBe(
      '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    );
  });
});
