/**
 * Plans emails outside the transaction that writes them: checks whether the project may send the
 * request, and finds the parts that all recipients share (template, sender, data, content).
 */
import { type AppError, invalid, invalidField } from '../../../../base/errors.ts'
import type { QueueClass } from '../../../../base/queue-class.ts'
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import type { NamedMailbox } from '../../../../formats/address/named-mailbox.ts'
import type { RecipientFields } from '../../../../formats/compose/message-content.ts'
import { newId } from '../../../../store/ids.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { StoredAttachment } from '../../../../store/schema/json-values.ts'
import type { Template } from '../../../../store/schema/messages.ts'
import type { ContentClass, SourceType } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import { discardChunks } from '../../../ground/chunks.ts'
import type { SenderDomain } from '../../../ground/directory.ts'
import { type ParsedData, parseData } from '../../../people/contacts/write/data.ts'
import { unverifiedSender } from '../../domains/unverified-sender.ts'
import { templateNotFound } from '../../templates/templates.ts'
import { checkTemplateSizes } from '../../templates/validate.ts'
import { type AttachmentColumns, type ContentDraft, storeAttachments } from './content.ts'
import { inspectRequest, isTextAlone } from './inspect-request.ts'
import { type FieldFault, refuseFaults, type TemplateCheck } from './template-check.ts'

/** A send request with a valid shape; `planEmails` checks it against the project. */
export type SendRequest = {
  to: readonly NamedMailbox[]
  subject?: string | undefined
  body?: string | undefined
  /** `body` is plain text: the message gets no HTML part. */
  isText?: boolean | undefined
  /**
   * The text part beside an HTML body, or the whole message if there is none; may be a template; made
   * from the HTML if absent.
   */
  text?: string | undefined
  /** A template's id. */
  template?: string | undefined
  from?: NamedMailbox | undefined
  /** Display name where `from` has none (deprecated). */
  name?: string | undefined
  subscribed?: boolean | undefined
  data?: unknown
  headers?: Readonly<Record<string, string>> | undefined
  reply?: ParsedAddress | undefined
  attachments?: readonly StoredAttachment[] | undefined
  tracking?: boolean | undefined
  /** Subject, body and text are sent as they are, not as templates. */
  isLiteral?: boolean | undefined
  /** Signed or encrypted; if absent, the texts and the template are searched for OpenPGP armour. */
  isSealed?: boolean | undefined
  /** To and Cc for all recipients; if absent, each gets its own address in To. */
  recipientFields?: RecipientFields | null | undefined
  /** The parts of the message that its reader lost, guessed or mended. */
  warnings?: readonly string[] | undefined
}

type PlanDeps = Pick<Base, 'config' | 'directory'>

const MAX_DATA_BYTES_PER_REQUEST = 4 * 1024 * 1024
const MAX_DATA_KEYS_PER_REQUEST = 50_000
const NONE_STORED: AttachmentColumns = { attachments: null, chunkBytes: 0 }

/** The reason for the emails, and their queue class. */
export type EmailOrigin = {
  source: Exclude<SourceType, 'INBOUND'>
  class: QueueClass
  campaignId?: string
  /** A test is sent whether or not its contact is subscribed. */
  isTest?: boolean
  /** Mail of the server to one of its users. */
  platform?: {
    /**
     * Whether the email is sent although its recipient has complained about mail of the project.
     */
    ignoresComplaint: boolean
    /** The subject that lists show, because the subject of the content has a placeholder. */
    subject: string
  }
}

/** A checked request with its content; `acceptEmails` writes it, or `discardPlan` drops it. */
export type EmailPlan = {
  project: Project
  request: SendRequest
  origin: EmailOrigin
  at: number
  template: Template | undefined
  sender: EmailSender
  senderDomain: SenderDomain
  contentClass: ContentClass
  data: ParsedData
  /** Read from the cache: a hold may have ended by now. */
  heldDomains: ReadonlySet<string>
  content: ContentDraft
  /** The faults in the templates of the request, which is sent all the same. */
  faults: readonly FieldFault[]
  /**
   * The contact for whom the message of every recipient is rendered; undefined: each recipient's
   * own contact.
   */
  reader?: Contact | undefined
}

type EmailSender = { address: string; name: string | null; replyTo: string | null }

/** `check`: if absent, the templates of the request are not checked. */
type PlanInput = Pick<EmailPlan, 'project' | 'request' | 'origin'> & {
  check?: TemplateCheck | undefined
}

/**
 * Checks a request and stores its large attachments, durably, ahead of the transaction.
 * @throws AppError TEMPLATE_NOT_FOUND, VALIDATION_ERROR, FORBIDDEN (sender domain), DATABASE_ERROR
 */
export async function planEmails(
  deps: PlanDeps & Pick<Base, 'store'>,
  { project, request, origin, check }: PlanInput,
  at: number,
): Promise<EmailPlan> {
  const template =
    request.template === undefined
      ? undefined
      : await findTemplate(deps, project.id, request.template)
  const { isSealed, isText, warnings } = inspectRequest(deps, request, template)
  const isLiteral = isSealed || request.isLiteral === true
  if (!isLiteral) checkSizes(request)
  const faults = isLiteral ? [] : await findFaults(project, request, check)
  const { sender, domain } = chooseSender(request, template)
  const senderDomain = await deps.directory.findSenderDomain(project.id, domain)
  if (senderDomain === undefined) {
    throw await unverifiedSender(deps.store.read, { projectId: project.id, domain })
  }
  const data = parseData(request.data)
  checkTotalSize(data, request.to.length)
  const heldDomains = await deps.directory.heldDomains()
  const contentClass = template?.type ?? 'TRANSACTIONAL'
  const draft = { project, request, template, isText, isLiteral, warnings, at }
  const id = newId()
  const { attachments = [] } = request
  const owner = { projectId: project.id, contentId: id }
  const stored =
    attachments.length === 0 ? NONE_STORED : await storeAttachments(deps, owner, attachments)
  const content = draftContent(draft, { id, ...stored })
  return {
    project,
    request: isSealed ? { ...request, tracking: false } : request,
    origin,
    at,
    template,
    sender,
    senderDomain,
    contentClass,
    data,
    heldDomains,
    content,
    faults,
  }
}

/** Deletes the attachments that `planEmails` stored for a plan that was not written. */
export async function discardPlan(
  { store }: Pick<Base, 'store'>,
  { content }: EmailPlan,
): Promise<void> {
  if (content.chunkBytes > 0) await discardChunks(store, content.id)
}

type ContentParts = Pick<EmailPlan, 'project' | 'request' | 'template' | 'at'> & {
  isText: boolean
  isLiteral: boolean
  warnings: readonly string[]
}

function draftContent(
  { project, request, template, isText, isLiteral, warnings, at }: ContentParts,
  { id, attachments, chunkBytes }: AttachmentColumns & { id: string },
): ContentDraft {
  const isTemplateItself =
    template !== undefined &&
    !isLiteral &&
    request.subject === undefined &&
    request.body === undefined &&
    request.text === undefined &&
    attachments === null
  const { body, text } = textsOf(request, template)
  return {
    id,
    projectId: project.id,
    shareKey: isTemplateItself ? `template ${template.id} ${template.version}` : null,
    subject: request.subject ?? template?.subject ?? '',
    body,
    text,
    isText,
    isLiteral,
    warnings: warnings.length === 0 ? null : warnings,
    recipientFields: request.recipientFields ?? null,
    at,
    attachments,
    chunkBytes,
  }
}

/** A text without HTML is the body of its message. */
function textsOf(
  request: SendRequest,
  template: Template | undefined,
): Pick<ContentDraft, 'body' | 'text'> {
  const { body = template?.body ?? '', text = null } = request
  return isTextAlone(request, template) ? { body: text ?? '', text: null } : { body, text }
}

/** The sizes of a template were checked when it was saved. */
function checkSizes({ subject, body, text }: SendRequest): void {
  const wrong = checkTemplateSizes({ subject, body, text })
  if (wrong.length > 0) throw invalid(wrong)
}

/** @throws AppError VALIDATION_ERROR for a fault, if the project or the request refuses faults */
async function findFaults(
  { onTemplateFault }: Project,
  { subject, body, text }: SendRequest,
  check: TemplateCheck | undefined,
): Promise<FieldFault[]> {
  if (check === undefined) return []
  const refuses = (check.onFault ?? onTemplateFault) === 'refuse'
  const texts = { subject, body: check.body ?? body, text }
  const faults = await check.find(texts, { isQuick: !refuses })
  if (refuses) refuseFaults(faults)
  return faults
}

/**
 * The row of every recipient stores a copy of the data, and every key of every contact is counted.
 */
function checkTotalSize({ variables, changes }: ParsedData, recipients: number): void {
  if (recipients === 1) return
  const bytes = Buffer.byteLength(JSON.stringify(variables)) * recipients
  if (bytes > MAX_DATA_BYTES_PER_REQUEST) throw tooMuchData(`${MAX_DATA_BYTES_PER_REQUEST} bytes`)
  const keys = Object.keys(changes).length * recipients
  if (keys > MAX_DATA_KEYS_PER_REQUEST) throw tooMuchData(`${MAX_DATA_KEYS_PER_REQUEST} keys`)
}

function tooMuchData(maximum: string): AppError {
  const text = `data times the number of recipients may have at most ${maximum}; split the request`
  return invalidField('data', 'too_big', text)
}

async function findTemplate(
  { directory }: PlanDeps,
  projectId: string,
  id: string,
): Promise<Template> {
  const template = await directory.findTemplate(projectId, id)
  if (template === undefined) throw templateNotFound(id)
  return template
}

/** Returns the first of the names that is not blank. */
function givenName(...names: (string | null | undefined)[]): string | null {
  return names.find((name) => name !== undefined && name !== null && name.trim() !== '') ?? null
}

/** The address: from the request, else the template. The name: `from.name`, `name`, the template's. */
function chooseSender(request: SendRequest, template: Template | undefined) {
  const name = givenName(request.from?.name, request.name, template?.fromName)
  const replyTo = request.reply?.address ?? template?.replyTo ?? null
  if (request.from !== undefined) {
    const { address, domain } = request.from.address
    return { sender: { address, name, replyTo }, domain }
  }
  if (template !== undefined) {
    return { sender: { address: template.fromAddress, name, replyTo }, domain: template.fromDomain }
  }
  throw invalidField('from', 'required', 'A sender is required: neither from nor template has one')
}
