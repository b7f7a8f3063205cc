/**
 * Inspects a send request: whether its message is signed or encrypted, whether its body is plain
 * text, and which parts are damaged or cannot be sent. A signed or encrypted message goes out as it
 * is: its texts are no templates, no link is tracked and no footer is added, since any change
 * breaks the signature. A body that is signed or encrypted text, without a tag and without a text
 * beside it, is no HTML. A request with a text alone has no HTML either. Damage in the texts of a
 * request is only reported, because the lost characters are unknown.
 */
import { parseContentType } from '../../../../formats/compose/parameters.ts'
import { removeSmarthostHeaders } from '../../../../formats/compose/smarthost-header.ts'
import { sealOfText } from '../../../../formats/reading/seal.ts'
import type { Base } from '../../../ground/base.ts'

/** The parts of a send request that `inspectRequest` looks at. */
type SendRequest = {
  subject?: string | undefined
  body?: string | undefined
  isText?: boolean | undefined
  text?: string | undefined
  from?: { name: string | null } | undefined
  name?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  attachments?: readonly { contentType: string; sealed?: object }[] | undefined
  isSealed?: boolean | undefined
  warnings?: readonly string[] | undefined
}

/** `isText`: the body is sent as plain text. */
type Inspection = { isSealed: boolean; isText: boolean; warnings: string[] }

const ARMOUR_START = '-----BEGIN PGP '
const TAG = /<(?:\/?[a-z][a-z0-9]{0,20}[\s/>]|!)/i

/** `template`: the template that the request names; its body counts if the request has none. */
export function inspectRequest(
  { config }: Pick<Base, 'config'>,
  request: SendRequest,
  template?: { body: string },
): Inspection {
  const { text, body = template?.body ?? '' } = request
  const isOfTemplate = template !== undefined && request.body === undefined
  const isArmoured =
    request.isSealed === undefined &&
    (isOfTemplate ? isTemplateArmoured(template) : hasArmour(body))
  const isPlainArmour = isArmoured && text === undefined && !TAG.test(body)
  const isText = request.isText ?? (isTextAlone(request, template) || isPlainArmour)
  const isSealed = request.isSealed ?? (isArmoured || hasArmour(text ?? ''))
  const isChanged = isArmoured && !isText && !hasArmour(text ?? '')
  const warnings = isSealed ? [isChanged ? SEALED_AS_HTML : SEALED] : []
  warnings.push(...(request.warnings ?? damageIn(request)))
  if (config.delivery.mode === 'relay') warnings.push(...lostHeaders(request))
  if (request.attachments !== undefined) warnings.push(...unsentTypes(request.attachments))
  return { isSealed, isText, warnings }
}

/** Whether the request has a text and nothing that makes HTML: the text is the whole message. */
export function isTextAlone(
  { body, text }: Pick<SendRequest, 'body' | 'text'>,
  template: object | undefined,
): boolean {
  return template === undefined && body === undefined && text !== undefined
}

const SEALED =
  'The message is signed or encrypted: it is sent byte for byte, without tracking, footer and templates.'

const SEALED_AS_HTML =
  'The body is signed or encrypted, but is sent as HTML, which changes its lines: send it as text. It goes without tracking, footer and templates.'

function hasArmour(text: string): boolean {
  return text.includes(ARMOUR_START) && sealOfText(text) !== null
}

/**
 * Whether a template contains OpenPGP armour. The directory caches templates, so each one is
 * searched once.
 */
const armouredTemplates = new WeakMap<object, boolean>()

function isTemplateArmoured(template: { body: string }): boolean {
  const known = armouredTemplates.get(template)
  if (known !== undefined) return known
  const isArmoured = hasArmour(template.body)
  armouredTemplates.set(template, isArmoured)
  return isArmoured
}

/**
 * Returns warnings of damaged texts. A request by SMTP has warnings already: its reader counts the
 * damage when it decodes the message.
 */
function damageIn({ subject, body, text, from, name }: SendRequest): string[] {
  const texts = { subject, body, text, from: from?.name ?? undefined, name }
  const damage: string[] = []
  let field: keyof typeof texts
  for (field in texts) {
    const value = texts[field] ?? ''
    if (value.isWellFormed() && !value.includes('\ufffd')) continue
    const count = value.toWellFormed().split('\ufffd').length - 1
    const characters = count === 1 ? '1 character' : `${count} characters`
    damage.push(`${field}: ${characters} could not be read and became U+FFFD; send UTF-8.`)
  }
  return damage
}

function lostHeaders({ headers = {} }: SendRequest): string[] {
  const sent = removeSmarthostHeaders(headers)
  const lost = Object.keys(headers).filter((name) => !Object.hasOwn(sent, name))
  return lost.map((name) => `headers.${name}: not sent, because it steers the smarthost.`)
}

/** Warns of types that `mime-part.ts` replaces by application/octet-stream. */
function unsentTypes(attachments: NonNullable<SendRequest['attachments']>): string[] {
  return attachments.flatMap(({ contentType, sealed }, index) => {
    if (sealed !== undefined) return []
    const type = parseContentType(contentType)?.type
    if (type !== undefined && !/^(?:message\/(?!rfc822$)|multipart\/)/.test(type)) return []
    return `attachments.${index}.contentType: sent as application/octet-stream.`
  })
}
