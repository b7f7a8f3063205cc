/**
 * Decides which recipients this server accepts. This decision keeps it from being an open relay.
 * The first row that applies counts:
 *
 * | address                                                    | accepted as                 |
 * |------------------------------------------------------------|-----------------------------|
 * | `b.<token>@`, `u.<token>@` any host                        | return path, unsubscription |
 * | any at a verified domain whose MX is this server           | a mailbox of its project    |
 * | `postmaster@`, `abuse@` a host of the server, `postmaster` | the operator of this server |
 *
 * This server must have signed the token; such mail ends here, so it is never relayed. The host may be any,
 * because the domain may have been deleted, or `delivery.return_path_domain` changed, after the mail was
 * sent. The age of the token is not checked here: late reports are accepted and ignored.
 *
 * The hosts of the server are `delivery.hostname`, `delivery.return_path_domain` and `bounce.D` of
 * every verified domain D. A trusted domain needs no MX. Mail to a project that is being reset has to
 * come again later.
 */

import { describeError } from '../../../../base/errors.ts'
import { parseAddress } from '../../../../formats/address/address.ts'
import {
  type EmailToken,
  readReturnPathLocalPart,
  readUnsubscribeLocalPart,
} from '../../../../formats/signed-tokens.ts'
import { and, eq, or } from '../../../../store/drizzle.ts'
import { domains } from '../../../../store/schema/domains.ts'
import type { InboundRecipient } from '../../../../store/schema/json-values.ts'
import type { Base } from '../../../ground/base.ts'

/**
 * Why a recipient is refused. `relay`: the domain belongs to another server, or the text is no
 * address. `unknown`: a host of this server, which has no such mailbox. `forged`: a return path
 * that this server did not sign. `closed`: the project of the mailbox is being reset.
 */
export type RecipientRefusal = { refuse: 'relay' | 'unknown' | 'forged' | 'closed' }

type Deps = Pick<Base, 'config' | 'keyring' | 'directory'>
type Mailbox = { address: string; localPart: string; domain: string }

const OPERATORS = new Set(['postmaster', 'abuse'])
const BOUNCE = 'bounce.'

type ReceivingDomains = {
  /**
   * The names of the server's hosts, and the domains with mailboxes here, as A-labels. The set
   * changes in place.
   */
  domains: ReadonlySet<string>
  stop(): void
}

type ReceivingDeps = Pick<Base, 'store' | 'config' | 'directory' | 'log'>

/** Decides about a recipient. `address`: the argument of RCPT, without angle brackets. */
export async function admitRecipient(
  deps: Deps,
  { address }: { address: string },
): Promise<InboundRecipient | RecipientRefusal> {
  if (address.toLowerCase() === 'postmaster') return { for: 'server', address: 'postmaster' }
  const mailbox = parseAddress(address)
  if (mailbox === undefined) return { refuse: 'relay' }
  const signed = readSigned(deps, mailbox)
  if (signed !== undefined) return signed
  const owner = await deps.directory.findMailboxDomain(mailbox.domain)
  if (owner !== undefined) return admitMailbox(deps, mailbox, owner.projectId)
  if (!(await isServerHost(deps, mailbox.domain))) return { refuse: 'relay' }
  if (OPERATORS.has(mailbox.localPart)) return { for: 'server', address: mailbox.address }
  return { refuse: /^[bu]\./.test(mailbox.localPart) ? 'forged' : 'unknown' }
}

/**
 * Reads a token that this server signed; undefined if the local part is none. The host may be any.
 */
export function readSigned(
  { keyring }: Pick<Deps, 'keyring'>,
  { address, localPart }: Mailbox,
): InboundRecipient | undefined {
  const returned = readReturnPathLocalPart(keyring.keys('return-path'), localPart)
  if (returned !== undefined) return { for: 'return-path', address, ...storable(returned) }
  const left = readUnsubscribeLocalPart(keyring.keys('mail-in-unsubscribe'), localPart)
  return left === undefined ? undefined : { for: 'unsubscribe', address, ...storable(left) }
}

function storable({ emailId, digest }: EmailToken) {
  return digest === undefined ? { emailId } : { emailId, digest: digest.toString('hex') }
}

/**
 * Looks for a mailbox. Refuses `user%elsewhere@here` and `elsewhere!user@here`, which ask this
 * server to relay.
 */
async function admitMailbox(
  deps: Pick<Deps, 'directory'>,
  { address, localPart }: Mailbox,
  projectId: string,
): Promise<InboundRecipient | RecipientRefusal> {
  if (/[%!]/.test(localPart)) return { refuse: 'relay' }
  if (await isClosed(deps, projectId)) return { refuse: 'closed' }
  return { for: 'mailbox', address, projectId }
}

/** Whether the project is being reset. */
export async function isClosed(
  { directory }: Pick<Deps, 'directory'>,
  projectId: string,
): Promise<boolean> {
  const project = await directory.findProject(projectId)
  return project !== undefined && project.resetSince !== null
}

async function isServerHost({ config, directory }: Deps, host: string): Promise<boolean> {
  const { hostname, returnPathDomain } = config.delivery
  if (host === hostname || host === returnPathDomain) return true
  return host.startsWith(BOUNCE) && (await directory.isVerifiedDomain(host.slice(BOUNCE.length)))
}

/**
 * Keeps in memory the domains whose mail this server receives, so that outbound can check at once
 * whether mail to a domain may come back to this server. The set is read at the start and after
 * every change of a domain.
 */
export async function startReceivingDomains(deps: ReceivingDeps): Promise<ReceivingDomains> {
  const { hostname, returnPathDomain } = deps.config.delivery
  const own = [hostname, returnPathDomain]
  const known = new Set<string>()
  let reads = 0

  async function read(): Promise<void> {
    const number = ++reads
    const found = await listMailboxDomains(deps)
    // Two reads may finish in the wrong order; only the newest one counts.
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
