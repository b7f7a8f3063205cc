/**
 * The kinds of values that settings take. A kind reads TOML values and texts of environment
 * variables, and describes the expected value in words.
 */
import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import type { HostAndPort, ListenAddress } from '../config.ts'
import { formatDuration, parseDuration } from './durations.ts'
import { formatListenAddress, isHostName, parseListenAddress } from './listen-address.ts'

export type TomlValue = string | number | boolean | readonly TomlValue[]

export type SettingKind<T> = {
  /** The expected value in words: 'a duration such as "30s"'. */
  expected: string
  isSecret: boolean
  /** A path; a relative one starts at the folder of the configuration file. */
  isPath: boolean
  /** Reads a TOML value; undefined when it is invalid. */
  read(value: unknown): T | undefined
  /** Turns the text of an environment variable into a TOML value. */
  fromText(text: string): unknown
  /** Turns a value into TOML. */
  show(value: T): TomlValue
}

const SECRET_MIN_LENGTH = 32

/** A kind whose TOML value is a text that `parse` reads and `show` writes. */
function textual<T>(
  expected: string,
  parse: (text: string) => T | undefined,
  show: (value: T) => string = String,
): SettingKind<T> {
  return {
    expected,
    isSecret: false,
    isPath: false,
    read: (value) => (typeof value === 'string' ? parse(value) : undefined),
    fromText: (text) => text,
    show,
  }
}

const printable = (text: string) => (/^[^\x00-\x1f\x7f]+$/.test(text) ? text : undefined)

export const text: SettingKind<string> = textual('a text on one line', printable)

export const path: SettingKind<string> = { ...textual('a path', printable), isPath: true }

export const secret: SettingKind<string> = { ...text, isSecret: true }

/** A secret from which keys are derived. */
export const longSecret: SettingKind<string> = {
  ...textual(`a text of at least ${SECRET_MIN_LENGTH} characters`, (value) =>
    value.length >= SECRET_MIN_LENGTH ? printable(value) : undefined,
  ),
  isSecret: true,
}

/** Bytes in base64 or base64url. */
export const base64Secret: SettingKind<string> = {
  ...textual('a key in base64 or base64url', (value) =>
    /^[\w+/-]{16}[\w+/-]*={0,2}$/.test(value) ? value : undefined,
  ),
  isSecret: true,
}

export function oneOf<const T extends string>(...choices: T[]): SettingKind<T> {
  return textual(`one of ${choices.join(', ')}`, (value) =>
    choices.find((choice) => choice === value),
  )
}

export const boolean: SettingKind<boolean> = {
  ...textual('true or false', () => undefined),
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  fromText: (value) => (value === 'true' ? true : value === 'false' ? false : value),
  show: (value) => value,
}

export function integer(min: number, max: number): SettingKind<number> {
  return {
    ...textual(`an integer from ${min} to ${max}`, () => undefined),
    read: (value) => {
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined
      return value >= min && value <= max ? value : undefined
    },
    fromText: (value) => (/^-?\d+$/.test(value) ? Number(value) : value),
    show: (value) => value,
  }
}

/** A number with or without a fraction. */
export function number(min: number, max: number): SettingKind<number> {
  return {
    ...textual(`a number from ${min} to ${max}`, () => undefined),
    read: (value) =>
      typeof value === 'number' && value >= min && value <= max ? value : undefined,
    fromText: (text) => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text),
    show: (value) => value,
  }
}

export const port = integer(1, 65_535)

export const MAX_COUNT = 1_000_000_000
export const count = integer(0, MAX_COUNT)

export const percentage = number(0, 100)

/** A duration in milliseconds. */
export const duration: SettingKind<number> = textual(
  'a duration such as "500ms", "30s", "5m", "2h" or "3d"',
  (value) => parseDuration(value) || undefined,
  formatDuration,
)

/** A list; in the environment separated by commas, or a JSON array. */
export function arrayOf<T>(kind: SettingKind<T>, { min = 0 } = {}): SettingKind<readonly T[]> {
  return {
    ...kind,
    expected: `a list${min > 0 ? ' that is not empty' : ''}, each ${kind.expected}`,
    read: (value) => {
      if (!Array.isArray(value) || value.length < min) return undefined
      const entries = value.map((entry) => kind.read(entry))
      return entries.every((entry) => entry !== undefined) ? entries : undefined
    },
    fromText: (value) => (value.startsWith('[') ? fromJson(value) : fromCommas(value, kind)),
    show: (entries) => entries.map((entry) => kind.show(entry)),
  }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

function fromCommas(text: string, kind: SettingKind<unknown>): unknown[] {
  if (text.trim() === '') return []
  return text.split(',').map((part) => kind.fromText(part.trim()))
}

export const listenAddress: SettingKind<ListenAddress> = textual(
  'an address and a port such as "127.0.0.1:8080" or "[::1]:8080"',
  (value) => {
    const address = parseListenAddress(value)
    return address?.isTls ? undefined : address
  },
  formatListenAddress,
)

export const listenAddressOrTls: SettingKind<ListenAddress> = textual(
  'an address and a port such as "0.0.0.0:587", or "tls://0.0.0.0:465" for implicit TLS',
  parseListenAddress,
  formatListenAddress,
)

/**
 * A host name. The value is in A-labels and lower case, without a final dot. A label with `xn--` must be
 * valid (RFC 5890).
 */
export const hostName: SettingKind<string> = textual('a host name', (value) => {
  const name = domainToASCII(value.replace(/\.$/, ''))
  const isDecoded = !/(?:^|\.)xn--/.test(domainToUnicode(name))
  return isHostName(name) && isDecoded ? name : undefined
})

export const hostNameOrAddress: SettingKind<string> = textual(
  'a host name or an IP address',
  (value) => (isIP(value) === 0 ? hostName.read(value) : value),
)

/** A host, and a port or null for the caller's default. An IPv6 address with a port is written `[::1]:25`. */
export const hostAndPort: SettingKind<HostAndPort> = textual(
  'a host name or an IP address, optionally with a port, such as "mx.example.net" or "mx.example.net:25"',
  (value) => {
    const whole = hostNameOrAddress.read(value)
    if (whole !== undefined) return { host: whole, port: null }
    const [, bracketed, name, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value) ?? []
    const host = hostNameOrAddress.read(bracketed ?? name ?? '')
    const number = port.read(Number(digits))
    return host === undefined || number === undefined ? undefined : { host, port: number }
  },
  ({ host, port: number }) => {
    const shown = host.includes(':') && number !== null ? `[${host}]` : host
    return number === null ? shown : `${shown}:${number}`
  },
)

export const ipAddress: SettingKind<string> = textual('an IP address', (value) =>
  isIP(value) === 0 ? undefined : value,
)

/** An address or a network, in the forms that `http/server/client-address.ts` reads. */
export const network: SettingKind<string> = textual(
  'an IP address, a network such as "10.0.0.0/8", or "loopback"',
  (value) => {
    if (value === 'loopback') return value
    if (isIP(value) !== 0) return value.includes('%') ? undefined : value
    const [, address = '', bits] = /^([^%]+)\/(\d{1,3})$/.exec(value) ?? []
    const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    return Number(bits) <= maxBits ? value : undefined
  },
)

/** A name server, in the syntax of `Resolver.setServers` of node:dns. */
export const dnsServer: SettingKind<string> = textual(
  'the IP address of a DNS server, optionally with a port, such as "127.0.0.1:5353" or "[::1]:53"',
  (value) => {
    if (isIP(value) !== 0) return value
    const address = parseListenAddress(value)
    if (address === undefined || address.isTls || address.port === 0) return undefined
    return isIP(address.host) === 0 ? undefined : value
  },
)

/** A URL. The value has no final slash. */
export const webAddress: SettingKind<string> = textual(
  'an address such as "https://mail.example.com"',
  (value) => {
    const url = plainUrl(value)
    return url && url.origin + url.pathname.replace(/(?<!\/)\/+$/, '')
  },
)

/** A URL as `webAddress` takes it, but with https only. */
export const secureWebAddress: SettingKind<string> = textual(
  'an https address such as "https://www.example.com"',
  (value) => (plainUrl(value)?.protocol === 'https:' ? webAddress.read(value) : undefined),
)

/** The URL of an issuer, unchanged: issuers are compared by their characters, the final slash included. */
export const issuer: SettingKind<string> = textual(
  'the address of an OpenID provider such as "https://login.example.com", as the provider writes it',
  (value) => plainUrl(value) && value,
)

export const directoryUrl: SettingKind<string> = textual(
  'an https address such as "https://acme.example.com/directory"',
  (value) => (plainUrl(value)?.protocol === 'https:' ? value : undefined),
)

/** One email address in ASCII, as RFC 8555 section 7.3 takes it. */
export const contactAddress: SettingKind<string> = textual(
  'an email address such as "you@example.com"',
  (value) => {
    const [, localPart = '', domain = ''] = /^([\w.+-]{1,64})@([^\s@?#/\\:]+)$/.exec(value) ?? []
    const host = hostName.read(domain)
    return localPart === '' || host === undefined ? undefined : `${localPart}@${host}`
  },
)

/** A URL of http or https, without credentials, query and fragment. */
function plainUrl(value: string): URL | undefined {
  if (!URL.canParse(value) || /[\s?#]/.test(value)) return undefined
  const url = new URL(value)
  const isPlain = url.username === '' && url.password === ''
  return isPlain && /^https?:$/.test(url.protocol) ? url : undefined
}

export const sqliteUrl: SettingKind<string> = textual(
  '"sqlite:FILE", as in "sqlite:pillarbox.db"',
  (url) => (/^sqlite:(?!\/\/|:)[^\x00-\x1f?#]+$/.test(url) ? url : undefined),
)

export const topicArn: SettingKind<string> = textual(
  'the ARN of a topic such as "arn:aws:sns:eu-west-1:123456789012:mail"',
  (value) => (/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w.-]+$/.test(value) ? value : undefined),
)
