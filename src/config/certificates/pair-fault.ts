/** Explains why a certificate and a key cannot be used together, in plainer words than OpenSSL. */
import { describeError } from '../../base/errors.ts'

const MEANINGS: Record<string, string> = {
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'the key does not belong to the certificate',
  ERR_OSSL_X509_KEY_TYPE_MISMATCH: 'the key does not belong to the certificate',
}

export function describePairFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return MEANINGS[code] ?? describeError(error)
}
