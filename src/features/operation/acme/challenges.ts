/**
 * Keeps the answers to the challenges of orders in progress (http-01, RFC 8555 section 8.3). The
 * edges answer known tokens only, whatever the Host header says.
 */
export type Challenges = {
  add(token: string, keyAuthorization: string): void
  delete(token: string): void
  /** Returns the key authorization of a token. */
  find(token: string): string | undefined
}

export const CHALLENGE_PATH = '/.well-known/acme-challenge/'

/** A token is base64url and has at least 128 bits (RFC 8555 section 8.3). */
const TOKEN = /^[\w-]{16,200}$/

export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

export function createChallenges(): Challenges {
  const answers = new Map<string, string>()
  return {
    add: (token, keyAuthorization) => void answers.set(token, keyAuthorization),
    delete: (token) => void answers.delete(token),
    find: (token) => answers.get(token),
  }
}
