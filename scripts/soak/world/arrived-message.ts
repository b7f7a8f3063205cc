/** Reads what the run needs to know of a message at a receiver, from its first octets. */
import type { MessageLinks } from './sink-events.ts'

const READ_LENGTH = 65_536
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const UUID_LENGTH = 32

/** The id of the email of a return path; '' for any other address. */
export function readEmailId(returnPath: string): string {
  const [, token = ''] = /^b\.([a-z2-7]+)@/i.exec(returnPath) ?? []
  const bits = [...token.toLowerCase()]
    .map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  const digits = (bits.match(/.{4}/g) ?? []).map((four) => Number.parseInt(four, 2).toString(16))
  if (digits.length < UUID_LENGTH) return ''
  return digits
    .slice(0, UUID_LENGTH)
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Subjects of the run are `Soak <number>`. */
export function readArrived(message: string): {
  number: number | null
  messageId: string
  header: string
  links: MessageLinks
} {
  const start = message.slice(0, READ_LENGTH)
  const header = start.slice(0, start.indexOf('\r\n\r\n'))
  const [, number] = /^subject: Soak (\d+)/im.exec(header) ?? []
  const [, messageId = ''] = /^message-id:\s*(<[^>]*>)/im.exec(header) ?? []
  const text = start.replace(/=\r\n/g, '')
  const link = (path: string) => new RegExp(`/${path}/([a-z0-9]+)`).exec(text)?.[1]
  const links = { open: link('t/o'), click: link('t/c'), unsubscribe: link('unsubscribe') }
  return {
    number: number === undefined ? null : Number(number),
    messageId,
    header,
    links: Object.fromEntries(Object.entries(links).filter(([, token]) => token !== undefined)),
  }
}
