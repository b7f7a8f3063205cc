/**
 * The project and the address (`accounts.mail_from`) that the mail of this server to its users comes from. The
 * project is `accounts.mail_project`; in sandbox mode the sandbox's project, unless another is set.
 */
import {
  displayDomain,
  type ParsedAddress,
  parseAddress,
} from '../../../../formats/address/address.ts'
import { type NamedMailbox, parseNamedMailbox } from '../../../../formats/address/named-mailbox.ts'
import { and, asc, eq } from '../../../../store/drizzle.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import { domains } from '../../../../store/schema/domains.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { SessionUser } from '../callers/caller.ts'
import { findSandboxProject } from '../projects/sandbox-project.ts'
import { isProven } from '../users/proof.ts'

type PlatformSender =
  /** The server sends no mail to its users. */
  | { kind: 'none' }
  /** The server should send mail to its users, but cannot. `reason`: one sentence for operators. */
  | { kind: 'unusable'; reason: string }
  | { kind: 'usable'; project: Project; from: NamedMailbox }

export type UsableSender = Extract<PlatformSender, { kind: 'usable' }>

type SenderDeps = Pick<Base, 'store' | 'directory' | 'config'>

const DEFAULT_NAME = 'Pillarbox'
const DEFAULT_LOCAL_PART = 'accounts'

/** Finds the project that sends mail to users; undefined if the server sends none. */
export async function findMailProjectId(
  { config: { accounts, delivery } }: Pick<Base, 'config'>,
  queries: Pick<Tx, 'select'>,
): Promise<string | undefined> {
  if (accounts.mailProject !== null) return accounts.mailProject
  if (delivery.mode !== 'sandbox') return undefined
  return (await findSandboxProject(queries))?.id
}

/**
 * Whether a user must prove the address before anything else. Always false without a mail project:
 * the link could not be mailed.
 */
export async function needsVerification(
  deps: Pick<Base, 'config' | 'store'>,
  user: Pick<SessionUser, 'verifiedAt'>,
): Promise<boolean> {
  return !isProven(user) && (await findMailProjectId(deps, deps.store.read)) !== undefined
}

/** Finds the present sender, and reports to `/health` if mail should be sent but cannot be. */
export async function findPlatformSender(
  deps: SenderDeps & Pick<Base, 'health'>,
): Promise<PlatformSender> {
  const sender = await judgeSender(deps)
  deps.health.set('platform-mail', sender.kind === 'unusable' ? sender.reason : null)
  return sender
}

/** Finds the sender like `findPlatformSender`, without a report to `/health`. */
export async function judgeSender(deps: SenderDeps): Promise<PlatformSender> {
  const projectId = await findMailProjectId(deps, deps.store.read)
  if (projectId === undefined) return { kind: 'none' }
  const project = await deps.directory.findProject(projectId)
  if (project === undefined) return unusable('accounts.mail_project names no project')
  if (project.isDisabled) {
    return unusable(`The project "${project.name}" of accounts.mail_project is disabled`)
  }
  const from = await chooseFrom(deps, project)
  return typeof from === 'string' ? unusable(from) : { kind: 'usable', project, from }
}

/** Returns the sender, or a text that says why there is none. */
async function chooseFrom(deps: SenderDeps, project: Project): Promise<NamedMailbox | string> {
  const given = deps.config.accounts.mailFrom
  if (given === null) {
    const domain = await findFirstDomain(deps, project.id)
    const address = domain && parseAddress(`${DEFAULT_LOCAL_PART}@${domain}`)
    if (address) return { address, name: DEFAULT_NAME }
    return `The project "${project.name}" of accounts.mail_project has no verified domain`
  }
  const mailbox = parseNamedMailbox(given)
  if (mailbox === undefined) return 'accounts.mail_from is not an address'
  if (await isVerified(deps, project, mailbox.address)) {
    return { ...mailbox, name: mailbox.name ?? DEFAULT_NAME }
  }
  const domain = displayDomain(mailbox.address.domain)
  return `${domain}, the domain of accounts.mail_from, is not verified for the project "${project.name}" of accounts.mail_project`
}

async function isVerified(
  { directory }: SenderDeps,
  { id }: Project,
  { domain }: ParsedAddress,
): Promise<boolean> {
  return (await directory.findSenderDomain(id, domain)) !== undefined
}

async function findFirstDomain(
  { store }: SenderDeps,
  projectId: string,
): Promise<string | undefined> {
  const first = await store.read
    .select({ domain: domains.domain })
    .from(domains)
    .where(and(eq(domains.projectId, projectId), eq(domains.isVerified, true)))
    .orderBy(asc(domains.createdAt), asc(domains.id))
    .limit(1)
    .get()
  return first?.domain
}

function unusable(reason: string): PlatformSender {
  return { kind: 'unusable', reason: `${reason}, so the server cannot send mail to its users.` }
}
