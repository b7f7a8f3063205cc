/**
 * The headers of a WEBHOOK that authenticate its requests. Only callers that see secrets are shown their
 * values (`seesSecrets`). All others see a mask; a mask that is sent back stands for the stored value of the
 * same step and header.
 */
import { type FieldError, invalid } from '../../../../base/errors.ts'
import { countMarkers } from '../../../../formats/template/template.ts'
import { MAX_STEP_HEADER_VALUE_LENGTH, MAX_STEP_HEADERS, MAX_STEP_URL_LENGTH } from '../limits.ts'
import type { ConfigFields } from './config-fields.ts'
import type { WebhookConfig } from './step-config.ts'

export const HEADER_MASK = '***'

const SECRET_NAME = /auth|cookie|key|password|secret|signature|token/i
type Config = Record<string, unknown>

export function isSecretHeader(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Returns the config of a step for callers that may not see secrets. */
export function maskConfig(config: Config): Config {
  const { headers } = config
  if (!isObject(headers)) return config
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    isSecretHeader(name) ? HEADER_MASK : value,
  ])
  return { ...config, headers: Object.fromEntries(shown) }
}

function hasMask({ headers }: Config): boolean {
  return isObject(headers) && Object.entries(headers).some(isMasked)
}

type GivenHeaders = {
  config: Config
  /** The stored config of the step; undefined for a new step. */
  stored: Config | undefined
  /** The field of the config. */
  path: string
  /**
   * Whether the caller sees secrets. Any other caller must not send secrets elsewhere, so a mask
   * counts only while the url is unchanged: behind one host there may be many receivers, and some
   * pass headers on.
   */
  seesSecrets: boolean
}

/**
 * Returns the config with the stored values in place of masks.
 * @throws AppError VALIDATION_ERROR for a mask without a stored value
 */
export function unmaskConfig({ config, stored, path, seesSecrets }: GivenHeaders): Config {
  const { headers } = config
  if (!isObject(headers) || !hasMask(config)) return config
  const known = headersOf(stored)
  const mayKeep = seesSecrets || urlOf(config) === urlOf(stored)
  const errors: FieldError[] = []
  const entries = Object.entries(headers).map(([name, value]) => {
    if (!isMasked([name, value])) return [name, value]
    const kept = known.get(name.toLowerCase())
    const fault = kept === undefined ? NOTHING_STORED : mayKeep ? undefined : OTHER_URL
    if (fault === undefined) return [name, kept]
    errors.push({ field: `${path}.headers.${name}`, code: 'masked', message: fault })
    return [name, value]
  })
  if (errors.length > 0) throw invalid(errors)
  return { ...config, headers: Object.fromEntries(entries) }
}

const NOTHING_STORED = `${HEADER_MASK} stands for a stored value, and this step has none: give the value`
const OTHER_URL = `${HEADER_MASK} stands for a value that belongs to the url as it was: give the value again`

function isMasked([name, value]: [string, unknown]): boolean {
  return value === HEADER_MASK && isSecretHeader(name)
}

/** Returns the stored headers by their names in lower case. */
function headersOf(stored: Config | undefined): Map<string, unknown> {
  const headers = stored?.headers
  if (!isObject(headers)) return new Map()
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function urlOf(config: Config | undefined): string {
  return (config as Partial<WebhookConfig> | undefined)?.url ?? ''
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** RFC 9110 section 5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const MAX_NAME_LENGTH = 255
/** Names of headers about the connection, which only the HTTP client sets. */
const OWN_HEADERS: readonly string[] = [
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade'],
  ...['te', 'trailer', 'expect'],
]
/** The beginning of the names of the headers for the signature. */
const OWN_PREFIX = 'webhook-'
const SCHEME = /^\s*([a-z][a-z0-9+.-]*):/i

/**
 * Reads the config of a WEBHOOK. The url, the values of headers and every text in the body are templates
 * (`step-templates.ts`).
 */
export function readWebhook(fields: ConfigFields): WebhookConfig {
  const url = readUrl(fields)
  const method = fields.choice('method', METHODS) ?? 'POST'
  const headers = readHeaders(fields)
  const body = fields.get('body')
  const onFailure = fields.choice('onFailure', ['fail', 'continue'])
  return {
    url,
    method,
    ...(headers && { headers }),
    ...(body === undefined ? {} : { body }),
    ...(onFailure && { onFailure }),
  }
}

/**
 * Reads the url; '' if it is wrong. If the url is a template, its result is checked when it is
 * rendered.
 */
function readUrl(fields: ConfigFields): string {
  const url = fields.text('url', { max: MAX_STEP_URL_LENGTH, isRequired: true })
  if (url === undefined) return ''
  const fault = faultOfUrl(url)
  if (fault === undefined) return url
  fields.fail('url', 'invalid_string', fault)
  return ''
}

function faultOfUrl(url: string): string | undefined {
  const [scheme] = SCHEME.exec(url)?.slice(1) ?? []
  if (scheme !== undefined && !isHttp(`${scheme.toLowerCase()}:`)) {
    return 'Must begin with http:// or https://'
  }
  if (countMarkers(url) > 0) return undefined
  if (!URL.canParse(url)) return 'Not a URL; it begins with http:// or https://'
  const { protocol, username, password } = new URL(url)
  if (!isHttp(protocol)) return 'Must begin with http:// or https://'
  return username + password === '' ? undefined : 'Must not contain a user name or password'
}

function isHttp(protocol: string): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

function readHeaders(fields: ConfigFields): Record<string, string> | undefined {
  const headers = fields.object('headers', { isMap: true })
  if (headers === undefined) return undefined
  const names = Object.keys(headers.values)
  if (names.length > MAX_STEP_HEADERS) {
    fields.fail('headers', 'too_big', `At most ${MAX_STEP_HEADERS} headers`)
    return undefined
  }
  const taken = new Set<string>()
  const entries = names.flatMap((name): [string, string][] => {
    const fault = faultOfName(name) ?? (taken.has(name.toLowerCase()) ? 'Occurs twice' : undefined)
    taken.add(name.toLowerCase())
    const shown = name.slice(0, MAX_NAME_LENGTH)
    if (fault !== undefined) headers.fail(shown, 'custom', fault)
    const rule = { max: MAX_STEP_HEADER_VALUE_LENGTH, min: 0, isRequired: true }
    const value = fault === undefined ? headers.text(name, rule) : undefined
    if (value === undefined) return []
    if (/[\0\r\n]/.test(value)) headers.fail(name, 'invalid_string', 'Must not contain line breaks')
    return [[name, value]]
  })
  return Object.fromEntries(entries)
}

function faultOfName(name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH || !TOKEN.test(name)) return 'Not the name of an HTTP header'
  const lower = name.toLowerCase()
  if (OWN_HEADERS.includes(lower) || lower.startsWith(OWN_PREFIX)) return 'Is set by Pillarbox'
  return undefined
}
