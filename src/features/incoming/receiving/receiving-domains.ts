/**
 * The domains whose mail this server receives, in memory: outbound can check without waiting
 * whether mail to a domain may lead back to this server. The set is read at the start and after
 * every change of a domain.
 */
import { describeError } from '../../../base/errors.ts'
import { and, eq, or } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import type { Base } from '../../ground/base.ts'

type ReceivingDomains = {
  /**
   * The server's host names and the domains with mailboxes here, as A-labels. The set changes in
   * place.
   */
  domains: ReadonlySet<string>
  stop(): void
}

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'log'>

export async function startReceivingDomains(deps: Deps): Promise<ReceivingDomains> {
  const { hostname, returnPathDomain } = deps.config.delivery
  const own = [hostname, returnPathDomain]
  const known = new Set<string>()
  let reads = 0

  async function read(): Promise<void> {
    const number = ++reads
    const found = await listMailboxDomains(deps)
    // Reads can finish out of order; only the newest one counts.
    if (number !== reads) return
    const current = new Set([...own, ...found])
    for (const domain of known) if (!current.has(domain)) known.delete(domain)
    for (const domain of current) known.add(domain)
  }

  await read()
  const unlisten = deps.directory.onDrop(() => {
    read().catch((error: unknown) => {
      deps.log.error(
        { error: describeError(error) },
        'the domains with mailboxes could not be read',
      )
    })
  })
  return { domains: known, stop: unlisten }
}

async function listMailboxDomains({ store }: Pick<Base, 'store'>): Promise<string[]> {
  const hasMailboxes = or(eq(domains.isMxFound, true), eq(domains.isTrusted, true))
  const rows = await store.scan
    .select({ domain: domains.domain })
    .from(domains)
    .where(and(eq(domains.isVerified, true), hasMailboxes))
  return rows.map(({ domain }) => domain)
}
