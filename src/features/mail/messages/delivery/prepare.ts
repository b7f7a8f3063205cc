/**
 * Turns a claimed batch into delivery tasks: decides whether each email may still be sent, and
 * collects the source of its message. Senders, projects and holds are looked up once per batch.
 */
import type { KeyObject } from 'node:crypto'
import { describeError } from '../../../../base/errors.ts'
import { parseAddress } from '../../../../formats/address/address.ts'
import type { MessageContent } from '../../../../formats/compose/message-content.ts'
import { createReturnPathLocalPart } from '../../../../formats/signed-tokens.ts'
import type { DeliveryTask } from '../../../../outbound/delivery.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import type { SenderDomain, StoppedCampaigns, UnsettledFence } from '../../../ground/directory.ts'
import { DISABLED, fateOf, NOT_ENABLED_IN_TIME } from '../disabled/mail-fate.ts'
import type { ClaimedEmail } from '../queue/claim.ts'
import { unsealSnapshot } from './sealed-snapshots.ts'
import { toSource } from './source.ts'

/**
 * Why an email is not sent. `held`: an operator holds its recipient domain. `paused`: the email is
 * put aside, because its campaign is paused, its sender domain was lost, its project is disabled
 * for its reputation, or a fence holds it. `cancelled`: its campaign is cancelled. `erased`: its
 * row is about to be deleted with the data of its project. `error`: the email fails.
 */
type UnsentReason = 'suppressed' | 'held' | 'paused' | 'cancelled' | 'erased' | { error: string }

export type LoadedContents = {
  /** Contents by id, without those that retention cleared. */
  found: ReadonlyMap<string, MessageContent>
  /** Contents that were too large for this batch. */
  left: ReadonlySet<string>
}

export type RefusedEmail = { email: ClaimedEmail; refusal: UnsentReason }

type Prepared = {
  tasks: DeliveryTask[]
  refused: RefusedEmail[]
  /** Emails that an error of this server stopped, such as a key that cannot be decrypted. */
  faulty: string[]
  /** Emails whose contents were too large for this batch. */
  left: string[]
}

export type PrepareDeps = Pick<
  Base,
  'config' | 'keyring' | 'directory' | 'outbound' | 'now' | 'log'
> & {
  /** The current key of return paths. */
  returnKey: KeyObject
}

/** The error of an email whose contact unsubscribed before it was sent. */
export const UNSUBSCRIBED = 'the contact has unsubscribed'

/** The errors of emails that may no longer be sent for other reasons. */
export const NO_SENDER_DOMAIN = 'the sender domain is no longer verified'

export const CONTENT_CLEARED = 'its content was cleared by retention'

/** The error of mail of the server to its users, once that mail is final. */
export const PLATFORM_MAIL_NOT_KEPT =
  'mail of the server to its users is not kept; its recipient can ask for a new link'

/**
 * The project and domain of a sender. `domain`: undefined if the project no longer has this domain
 * verified.
 */
type SenderFacts = { project: Project | undefined; domain: SenderDomain | undefined }

type BatchContext = {
  held: ReadonlySet<string>
  stopped: StoppedCampaigns
  /** The fences that are not settled yet, by project. */
  fences: ReadonlyMap<string, UnsettledFence>
}

type WishFacts = Pick<
  ClaimedEmail,
  | 'contentClass'
  | 'campaignId'
  | 'workflowExecutionId'
  | 'isTest'
  | 'isPlatform'
  | 'isSubscribed'
  | 'hasLeft'
>

type TaskParts = {
  email: ClaimedEmail
  content: MessageContent
  project: Project
  domain: SenderDomain
}

type ReturnPath = { localPart: string; domain: string; token: string }

export async function prepareBatch(
  deps: PrepareDeps,
  emails: readonly ClaimedEmail[],
  { found, left }: LoadedContents,
): Promise<Prepared> {
  const prepared: Prepared = { tasks: [], refused: [], faulty: [], left: [] }
  const held = await deps.directory.heldDomains()
  const senders = await findSenders(deps, emails)
  const stopped = await deps.directory.stoppedCampaigns()
  const fences = await deps.directory.unsettledFences()
  const batch: BatchContext = { held, stopped, fences }
  for (const [index, email] of emails.entries()) {
    if (left.has(email.contentId)) {
      prepared.left.push(email.id)
      continue
    }
    try {
      const content = found.get(email.contentId)
      const result = prepare(deps, batch, { email, content, sender: senders[index] })
      if ('refusal' in result) prepared.refused.push({ email, ...result })
      else prepared.tasks.push(result)
    } catch (error) {
      const facts = { emailId: email.id, error: describeError(error) }
      deps.log.error(facts, 'an email could not be prepared')
      prepared.faulty.push(email.id)
    }
  }
  return prepared
}

/**
 * Whether the recipient does not want the email. HEADLESS is marketing without the footer when a
 * campaign or a workflow sends it. A test of a campaign is always wanted. For mail to an address
 * that a step names, the wish of that address counts, and not the contact's. `isToOther`: whether a
 * workflow sends the email to such an address.
 */
export function isUnwanted(email: WishFacts, isToOther: boolean): boolean {
  const { contentClass, campaignId, workflowExecutionId, hasLeft } = email
  if (email.isTest || email.isPlatform || contentClass === 'TRANSACTIONAL') return false
  if (isToOther) return hasLeft
  const isAsked =
    contentClass === 'MARKETING' || campaignId !== null || workflowExecutionId !== null
  return isAsked && (hasLeft || !email.isSubscribed)
}

/**
 * Returns the return path of an email: its bounces come back with a signed token of the email. `sender`: undefined
 * once the project has no such verified domain.
 */
export function returnPathOf(
  { config, returnKey }: Pick<Base, 'config'> & { returnKey: KeyObject },
  { id, digest }: { id: string; digest: Buffer },
  sender: Pick<SenderDomain, 'domain' | 'isReturnPathFound'> | undefined,
): ReturnPath {
  const localPart = createReturnPathLocalPart(returnKey, id, digest)
  const domain = sender?.isReturnPathFound
    ? `bounce.${sender.domain}`
    : config.delivery.returnPathDomain
  return { localPart, domain, token: localPart.slice('b.'.length) }
}

/** The senders of the emails, in their order. */
async function findSenders(
  deps: PrepareDeps,
  emails: readonly ClaimedEmail[],
): Promise<(SenderFacts | Error)[]> {
  const found = new Map<string, SenderFacts | Error>()
  const senders: (SenderFacts | Error)[] = []
  for (const email of emails) {
    const name = `${email.projectId} ${email.fromAddress}`
    const sender = found.get(name) ?? (await tryFindSender(deps, email))
    found.set(name, sender)
    senders.push(sender)
  }
  return senders
}

async function tryFindSender(
  { directory }: PrepareDeps,
  { projectId, fromAddress }: ClaimedEmail,
): Promise<SenderFacts | Error> {
  const name = parseAddress(fromAddress)?.domain
  try {
    const project = await directory.findProject(projectId)
    const domain =
      name === undefined ? undefined : await directory.findSenderDomain(projectId, name)
    return { project, domain }
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function prepare(
  deps: PrepareDeps,
  { held, stopped, fences }: BatchContext,
  {
    email,
    content,
    sender,
  }: {
    email: ClaimedEmail
    content: MessageContent | undefined
    sender: SenderFacts | Error | undefined
  },
): DeliveryTask | { refusal: UnsentReason } {
  if (sender instanceof Error) throw sender
  // A job deletes the emails of a project that is being reset or was deleted.
  if (!sender?.project || sender.project.resetSince !== null) return { refusal: 'erased' }
  if (isFenced(fences, email)) return { refusal: 'paused' }
  if (sender.project.isDisabled) return refuseDisabled(deps, { email, project: sender.project })
  const stop = email.campaignId === null ? undefined : stopped.get(email.campaignId)
  if (stop !== undefined) return { refusal: stop }
  if (email.isSuppressed) return { refusal: 'suppressed' }
  if (held.has(email.recipientDomain)) return { refusal: 'held' }
  if (isUnwanted(email, isToOther(email))) return refuse(UNSUBSCRIBED)
  if (sender.domain === undefined) return refuseWithoutDomain(email)
  if (content === undefined) return refuse(CONTENT_CLEARED)
  return toTask(deps, { email, content, project: sender.project, domain: sender.domain })
}

/** The same rule in SQL is in `store/email-terms.ts`. */
function isToOther({ variables, workflowExecutionId }: ClaimedEmail): boolean {
  return workflowExecutionId !== null && variables?.reader !== undefined
}

/**
 * Whether a fence holds the email. Mail of a campaign that is being sent is an exception: it waits
 * with its campaign, or was resumed with it.
 */
function isFenced(
  fences: BatchContext['fences'],
  { projectId, campaignId, createdAt }: ClaimedEmail,
): boolean {
  const fence = fences.get(projectId)
  if (fence === undefined || createdAt > fence.mailUntil) return false
  return campaignId === null || !fence.sending.has(campaignId)
}

function refuseDisabled(
  { now }: PrepareDeps,
  { email, project }: { email: ClaimedEmail; project: Project },
): { refusal: UnsentReason } {
  const fate = fateOf(project, now())
  if (fate === 'failed') return refuse(DISABLED)
  if (fate === 'held' || email.campaignId !== null) return { refusal: 'paused' }
  return refuse(NOT_ENABLED_IN_TIME)
}

/** The campaign is paused until the domain is verified again, so its mail waits. */
function refuseWithoutDomain({ campaignId }: ClaimedEmail): { refusal: UnsentReason } {
  if (campaignId !== null) return { refusal: 'paused' }
  return refuse(NO_SENDER_DOMAIN)
}

function refuse(error: string): { refusal: UnsentReason } {
  return { refusal: { error } }
}

function toTask(deps: PrepareDeps, { email, content, project, domain }: TaskParts): DeliveryTask {
  const returnPath = returnPathOf(deps, email, domain)
  const { sealedVariables } = email
  const sealed = sealedVariables === null ? undefined : unsealSnapshot(deps, sealedVariables)
  const opened = sealed === undefined ? email : { ...email, variables: sealed.snapshot }
  const source = toSource(deps, { email: opened, project, content, returnPath })
  return {
    emailId: email.id,
    projectId: email.projectId,
    queueClass: email.queueClass,
    group: email.campaignId,
    recipient: source.to.address,
    domain: email.recipientDomain,
    site: deps.outbound.siteOf(email.recipientDomain),
    reversePath: `${returnPath.localPart}@${returnPath.domain}`,
    source,
    signingKeys: domain.signingKeys,
    secrets: sealed?.secrets ?? [],
  }
}
