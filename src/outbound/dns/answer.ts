/** Questions and answers of DNS, and the watch that decides whether to believe an answer. */

/** `expiresAt`: epoch ms until which the answer may be used. */
export type DnsAnswer<T> =
  | { kind: 'found'; records: readonly T[]; expiresAt: number }
  | { kind: 'nodata'; expiresAt: number }
  | { kind: 'nxdomain'; expiresAt: number }
  /** `error`: time-out, SERVFAIL, REFUSED or another reason. */
  | { kind: 'failed'; error: string; expiresAt: number }

/** `host` in lower case without the final dot; '' is the root, which makes a null MX (RFC 7505). */
export type MxRecord = { preference: number; host: string }

export type DnsQuestion = { type: 'A' | 'AAAA' | 'MX' | 'TXT' | 'NS' | 'PTR'; name: string }

export type DnsWatch = {
  /** Returns the answer, or a failure in place of a denial that is not believed. Never rejects. */
  judge(question: DnsQuestion, answer: DnsAnswer<unknown>): Promise<DnsAnswer<unknown>>
  /** Call it when a look-up got no answer from the first server. */
  suspect(): void
  stop(): void
}
