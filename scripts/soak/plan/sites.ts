/** The receivers of mail: one domain, one MX and one address each, and how it behaves. */

export type Behaviour = 'healthy' | 'slow' | 'greylisting' | 'refusing' | 'dropping' | 'dead'

export type Site = {
  domain: string
  /** In a network of its own, because the server limits its connections to each network. */
  host: string
  behaviour: Behaviour
}

export const SITES: readonly Site[] = [
  { domain: 'healthy.test', host: '127.0.21.1', behaviour: 'healthy' },
  { domain: 'slow.test', host: '127.0.22.1', behaviour: 'slow' },
  { domain: 'grey.test', host: '127.0.23.1', behaviour: 'greylisting' },
  { domain: 'strict.test', host: '127.0.24.1', behaviour: 'refusing' },
  { domain: 'moody.test', host: '127.0.25.1', behaviour: 'dropping' },
  { domain: 'dead.test', host: '127.0.26.1', behaviour: 'dead' },
]

/** A domain that does not exist. */
export const NO_SUCH_DOMAIN = 'nowhere.test'

/** A recipient whose local part begins so is refused by `strict.test`. */
export const UNKNOWN_RECIPIENT = 'gone'

export const SLOW_MS = 5_000

/** With these weights recipients are chosen. A slow receiver takes two messages a second at most. */
export const RECIPIENT_WEIGHTS: readonly (readonly [domain: string, weight: number])[] = [
  ['healthy.test', 60],
  ['grey.test', 12],
  ['strict.test', 10],
  ['moody.test', 10],
  ['slow.test', 4],
  ['dead.test', 2],
  [NO_SUCH_DOMAIN, 2],
]
