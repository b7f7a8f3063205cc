/**
 * The domains whose mail ends here, for those who cannot wait for the database: who looks for a
 * route asks whether one to ourselves is right. Read at the start and again after every change.
 */
import { describeError } from '../../errors.ts'
import { and, eq, or } from '../../store/drizzle.ts'
import { domains } from '../../store/schema/domains.ts'
import type { Base } from '../base.ts'

export type ReceivingDomains = {
  /** Whether we take mail for `domain` (A-labels): our own host names, and domains with mailboxes here. */
  has(domain: string): boolean
  stop(): void
}

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'log'>

export async function startReceivingDomains(deps: Deps): Promise<ReceivingDomains> {
  const { hostname, returnPathDomain } = deps.config.delivery
  const own = [hostname, returnPathDomain]
  let known = new Set<string>()
  let reads = 0

  async function read(): Promise<void> {
    const number = ++reads
    const found = await listMailboxDomains(deps)
    // A later read has seen more, also when it was answered first.
    if (number === reads) known = new Set([...own, ...found])
  }

  await read()
  const forget = deps.directory.onDrop(() => {
    read().catch((error: unknown) => {
      deps.log.error({ error: describeError(error) }, 'the domains of mailboxes were not read')
    })
  })
  return { has: (domain) => known.has(domain), stop: forget }
}

async function listMailboxDomains({ store }: Pick<Base, 'store'>): Promise<string[]> {
  const isOpen = or(eq(domains.isMxFound, true), eq(domains.isTrusted, true))
  const rows = await store.scan
    .select({ domain: domains.domain })
    .from(domains)
    .where(and(eq(domains.isVerified, true), isOpen))
  return rows.map(({ domain }) => domain)
}
