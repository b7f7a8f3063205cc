/**
 * Finds what a message cannot be sent with. A signed or encrypted message goes out as it is: its texts
 * are no templates, no link is tracked and no footer is added, since any change breaks the signature.
 * Damage in the texts of a request is only named, since nobody can tell what they were.
 */
import { parseContentType } from '../../../mail/compose/parameters.ts'
import { removeSmarthostHeaders } from '../../../mail/compose/smarthost-header.ts'
import { sealOfText } from '../../../mail/reading/seal.ts'
import type { Base } from '../../base.ts'

/** The parts of a send request that are looked at. */
type SendRequest = {
  subject?: string | undefined
  body?: string | undefined
  text?: string | undefined
  from?: { name: string | null } | undefined
  name?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  attachments?: readonly { contentType: string; sealed?: object }[] | undefined
  isSealed?: boolean | undefined
  warnings?: readonly string[] | undefined
}

type Inspection = { isSealed: boolean; warnings: string[] }

const ARMOUR_START = '-----BEGIN PGP '

export function inspectRequest({ config }: Pick<Base, 'config'>, request: SendRequest): Inspection {
  const isSealed = request.isSealed ?? hasArmour(request)
  return {
    isSealed,
    warnings: [
      ...(isSealed ? [SEALED] : []),
      ...(request.warnings ?? damageIn(request)),
      ...(config.delivery.mode === 'relay' ? lostHeaders(request) : []),
      ...unsentTypes(request),
    ],
  }
}

const SEALED =
  'The message is signed or encrypted: it is sent byte for byte, without tracking, footer and templates.'

function hasArmour({ body = '', text = '' }: SendRequest): boolean {
  return [body, text].some((each) => each.includes(ARMOUR_START) && sealOfText(each) !== null)
}

/** Submission counts the damage in what it decodes. */
function damageIn({ subject, body, text, from, name }: SendRequest): string[] {
  const texts = { subject, body, text, from: from?.name ?? undefined, name }
  return Object.entries(texts).flatMap(([field, value = '']) => {
    if (value.isWellFormed() && !value.includes('\ufffd')) return []
    const count = value.toWellFormed().split('\ufffd').length - 1
    const characters = count === 1 ? '1 character' : `${count} characters`
    return `${field}: ${characters} could not be read and became U+FFFD; send UTF-8.`
  })
}

function lostHeaders({ headers = {} }: SendRequest): string[] {
  const sent = removeSmarthostHeaders(headers)
  const lost = Object.keys(headers).filter((name) => !Object.hasOwn(sent, name))
  return lost.map((name) => `headers.${name}: not sent, because it steers the smarthost.`)
}

/** `mime-part.ts` sends these as application/octet-stream. */
function unsentTypes({ attachments = [] }: SendRequest): string[] {
  return attachments.flatMap(({ contentType, sealed }, index) => {
    if (sealed !== undefined) return []
    const type = parseContentType(contentType)?.type
    if (type !== undefined && !/^(?:message\/(?!rfc822$)|multipart\/)/.test(type)) return []
    return `attachments.${index}.contentType: sent as application/octet-stream.`
  })
}
