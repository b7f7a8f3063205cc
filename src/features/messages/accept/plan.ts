/**
 * From a send request to what holds for every recipient of it: template, sender, data. Whatever the
 * project may not do is refused here, before anything is written.
 */
import { AppError, invalid, invalidField } from '../../../errors.ts'
import { displayDomain, type ParsedAddress } from '../../../mail/address/address.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { StoredAttachment, Template } from '../../../store/schema/messages.ts'
import type { ContentType } from '../../../store/schema/words.ts'
import type { Base } from '../../base.ts'
import { type ParsedData, parseData } from '../../contacts/write/data.ts'
import type { SenderDomain } from '../../directory.ts'
import { checkTemplateSizes } from '../../templates/size.ts'
import { noSuchTemplate } from '../../templates/view.ts'

export type { StoredAttachment } from '../../../store/schema/messages.ts'

export type NamedAddress = { address: ParsedAddress; name: string | null }

/** A send request whose shape has been checked; what the project allows is checked here. */
export type SendRequest = {
  to: readonly NamedAddress[]
  subject?: string | undefined
  body?: string | undefined
  /** `body` is plain text: the message gets no HTML part. */
  isText?: boolean | undefined
  /** The text part beside an HTML body, a template too; made of the HTML if left out. */
  text?: string | undefined
  /** A template's id. */
  template?: string | undefined
  from?: NamedAddress | undefined
  /** Display name where `from` has none (deprecated). */
  name?: string | undefined
  subscribed?: boolean | undefined
  data?: unknown
  headers?: Readonly<Record<string, string>> | undefined
  reply?: ParsedAddress | undefined
  attachments?: readonly StoredAttachment[] | undefined
  tracking?: boolean | undefined
}

type PlanDeps = Pick<Base, 'directory'>

const MAX_DATA_BYTES_PER_REQUEST = 4 * 1024 * 1024
const MAX_DATA_KEYS_PER_REQUEST = 50_000

/** What holds for every recipient of the request. */
export type Plan = {
  project: Project
  request: SendRequest
  at: number
  template: Template | undefined
  sender: Sender
  senderDomain: SenderDomain
  contentClass: ContentType
  data: ParsedData
  /** As remembered. */
  heldDomains: ReadonlySet<string>
}

type Sender = { address: string; name: string | null; replyTo: string | null }

/** @throws AppError TEMPLATE_NOT_FOUND, VALIDATION_ERROR, FORBIDDEN (sender domain) */
export async function planRequest(
  deps: PlanDeps,
  { project, request }: { project: Project; request: SendRequest },
  at: number,
): Promise<Plan> {
  checkSizes(request)
  const template = await findTemplate(deps, project, request)
  const { sender, domain } = chooseSender(request, template)
  const senderDomain = await deps.directory.findSenderDomain(project.id, domain)
  if (senderDomain === undefined) {
    throw new AppError(
      'FORBIDDEN',
      `The sender domain ${displayDomain(domain)} is not verified for this project.`,
    )
  }
  const data = parseData(request.data)
  checkTotalSize(data, request.to.length)
  const heldDomains = await deps.directory.heldDomains()
  const contentClass = template?.type ?? 'TRANSACTIONAL'
  return { project, request, at, template, sender, senderDomain, contentClass, data, heldDomains }
}

/** What is a template's was checked when it was saved. */
function checkSizes({ subject, body, text }: SendRequest): void {
  const wrong = checkTemplateSizes({ subject, body, text })
  if (wrong.length > 0) throw invalid(wrong)
}

/** Every recipient's row keeps a copy, and every key of every contact is counted. */
function checkTotalSize({ variables, changes }: ParsedData, recipients: number): void {
  if (recipients === 1) return
  const bytes = Buffer.byteLength(JSON.stringify(variables)) * recipients
  if (bytes > MAX_DATA_BYTES_PER_REQUEST) throw tooMuchData(`${MAX_DATA_BYTES_PER_REQUEST} bytes`)
  const keys = Object.keys(changes).length * recipients
  if (keys > MAX_DATA_KEYS_PER_REQUEST) throw tooMuchData(`${MAX_DATA_KEYS_PER_REQUEST} keys`)
}

function tooMuchData(most: string): AppError {
  const text = `data times recipients may be ${most}: split the request`
  return invalidField('data', 'too_big', text)
}

async function findTemplate(
  deps: PlanDeps,
  project: Project,
  request: SendRequest,
): Promise<Template | undefined> {
  if (request.template === undefined) return undefined
  const template = await deps.directory.findTemplate(project.id, request.template)
  if (template !== undefined) return template
  throw noSuchTemplate(request.template)
}

/** The first name that says something. */
function givenName(...names: (string | null | undefined)[]): string | null {
  return names.find((name) => name !== undefined && name !== null && name.trim() !== '') ?? null
}

/** Address: request, then template. Name: `from.name`, `name`, the template's; the project's last. */
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
