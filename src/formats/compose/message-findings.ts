/**
 * Checks a rendered message for faults that its author can mend: in links, images, size and texts.
 */
import { findHrefs, readLink } from '../html/links.ts'
import { eachTag, readAttributes } from '../html/tag.ts'
import type { PartFault, RenderedMessage } from './build-message.ts'

/** One fault that the author may want to mend before the message is sent. */
export type MessageFinding = {
  code: string
  /** `error`: the message would not be sent, or would reach nobody. */
  severity: 'error' | 'warning' | 'info'
  message: string
  /** What the author should do. */
  fix: string
}

/**
 * `baseUrl`: the base URL of the hosted pages. `isSandbox`: all recipients are on this machine, so
 * links to this machine work. `hasFooter`: the message ends with an unsubscribe link.
 */
export type MessageRules = {
  baseUrl: string
  isSandbox: boolean
  isUnsubscribeLinkDue: boolean
  hasFooter: boolean
}

/** The findings without the message itself, which may have megabytes. */
export type InspectedMessage = { faults: readonly PartFault[]; findings: readonly MessageFinding[] }

/** Gmail shows a message up to this size, and hides the rest behind a link. */
const CLIPPED_BYTES = 102 * 1024
const MAX_SUBJECT_LENGTH = 150
/** The maximum number of links or names that one finding quotes. */
const MAX_QUOTED = 3

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i
const EMPTY_VALUE = /(?<![\p{L}\p{N}_-])(?:null|undefined|\[object Object\])(?![\p{L}\p{N}_-])/u

export function findInMessage(message: RenderedMessage, rules: MessageRules): MessageFinding[] {
  const html = message.html ?? ''
  const all = findHrefs(html).flatMap(({ value }) => readLink(value) ?? [])
  const links = [...new Set(all)]
  const found = [
    unsubscribeFinding(links, rules),
    secondLinkFinding(all, rules),
    insecureFinding(links),
    loopbackFinding(links, rules),
    imageFinding(html),
    sizeFinding(html),
    textFinding(message),
    subjectFinding(message),
    emptyValueFinding(message),
  ]
  return found.filter((finding) => finding !== undefined)
}

function unsubscribeFinding(
  links: readonly string[],
  { baseUrl, isUnsubscribeLinkDue }: MessageRules,
): MessageFinding | undefined {
  const pages = [`${baseUrl}/unsubscribe/`, `${baseUrl}/manage/`]
  const hasLink = links.some((link) => pages.some((page) => link.startsWith(page)))
  if (!isUnsubscribeLinkDue || hasLink) return undefined
  return {
    code: 'no_unsubscribe_link',
    severity: 'warning',
    message: 'The message has no link to unsubscribe.',
    fix: 'Add a link to {{unsubscribeUrl}} or {{manageUrl}}, or use the type MARKETING, which adds one.',
  }
}

function secondLinkFinding(
  links: readonly string[],
  { baseUrl, hasFooter }: MessageRules,
): MessageFinding | undefined {
  const pages = links.filter((link) => link.startsWith(`${baseUrl}/unsubscribe/`))
  if (!hasFooter || pages.length < 2) return undefined
  return {
    code: 'two_unsubscribe_links',
    severity: 'info',
    message: 'The text has a link to unsubscribe, and the footer of MARKETING mail adds another.',
    fix:
      'Leave the link of the text out, or use the type HEADLESS, which has no footer. Campaigns and workflows ' +
      'send HEADLESS to subscribed contacts only, as MARKETING, but POST /v1/send sends it to everybody.',
  }
}

function insecureFinding(links: readonly string[]): MessageFinding | undefined {
  const insecure = links.filter((link) => {
    const { protocol, hostname } = new URL(link)
    return protocol === 'http:' && !LOOPBACK.test(hostname)
  })
  if (insecure.length === 0) return undefined
  return {
    code: 'insecure_link',
    severity: 'warning',
    message: `${count(insecure.length, 'link')} without https: ${quoteSome(insecure)}.`,
    fix: 'Use https:// in every link.',
  }
}

function loopbackFinding(
  links: readonly string[],
  { baseUrl, isSandbox }: MessageRules,
): MessageFinding | undefined {
  const others = isSandbox ? links.filter((link) => !link.startsWith(`${baseUrl}/`)) : links
  const local = others.filter((link) => LOOPBACK.test(new URL(link).hostname))
  if (local.length === 0) return undefined
  return {
    code: 'loopback_link',
    severity: 'warning',
    message: `${count(local.length, 'link')} to this machine, which no recipient can open: ${quoteSome(local)}.`,
    fix: 'Set `base_url` to the public address of the server, and use public addresses in the text.',
  }
}

function imageFinding(html: string): MessageFinding | undefined {
  let images = 0
  eachTag(html, (tag) => {
    if (tag.name !== 'img' || tag.isClosing) return
    if (!readAttributes(html, tag).has('alt')) images += 1
  })
  if (images === 0) return undefined
  return {
    code: 'image_without_alt',
    severity: 'warning',
    message: `${count(images, 'image')} without an alternative text.`,
    fix: 'Give each image an alt attribute; alt="" for decoration.',
  }
}

function sizeFinding(html: string): MessageFinding | undefined {
  const bytes = Buffer.byteLength(html)
  if (bytes <= CLIPPED_BYTES) return undefined
  return {
    code: 'html_too_large',
    severity: 'warning',
    message: `The HTML has ${Math.ceil(bytes / 1024)} KB; Gmail cuts a message off after 102 KB.`,
    fix: 'Shorten the text, or host styles and images elsewhere.',
  }
}

function textFinding({ text }: RenderedMessage): MessageFinding | undefined {
  if (text.trim() !== '') return undefined
  return {
    code: 'empty_text',
    severity: 'warning',
    message: 'The plain text of the message is empty.',
    fix: 'Write text beside the images: some readers and filters see the plain text only.',
  }
}

function subjectFinding({ subject }: RenderedMessage): MessageFinding | undefined {
  const { length } = Array.from(subject)
  if (subject.trim() === '') {
    return {
      code: 'empty_subject',
      severity: 'warning',
      message: 'The subject of the rendered sample is empty.',
      fix: 'Give the variables of the subject a fallback.',
    }
  }
  if (length <= MAX_SUBJECT_LENGTH) return undefined
  return {
    code: 'long_subject',
    severity: 'warning',
    message: `The subject has ${length} characters; most programs show fewer than ${MAX_SUBJECT_LENGTH}.`,
    fix: 'Shorten the subject.',
  }
}

function emptyValueFinding({ subject, text }: RenderedMessage): MessageFinding | undefined {
  const found = EMPTY_VALUE.exec(subject) ?? EMPTY_VALUE.exec(text)
  if (found === null) return undefined
  return {
    code: 'empty_value',
    severity: 'warning',
    message: `The rendered sample contains "${found[0]}".`,
    fix: 'Give the variable a fallback: {{ name ?? there }}.',
  }
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`
}

function quoteSome(texts: readonly string[]): string {
  const quoted = texts.slice(0, MAX_QUOTED).join(', ')
  return texts.length > MAX_QUOTED ? `${quoted} and ${texts.length - MAX_QUOTED} more` : quoted
}
