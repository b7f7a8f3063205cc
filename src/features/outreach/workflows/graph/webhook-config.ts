/**
 * The config of a WEBHOOK. The url, the values of headers and every text in the body are
 * templates (`step-templates.ts`).
 */
import { countMarkers } from '../../../../formats/template/template.ts'
import { MAX_HEADER_VALUE_LENGTH, MAX_HEADERS, MAX_URL_LENGTH } from '../limits.ts'
import type { ConfigFields } from './config-fields.ts'
import type { WebhookConfig } from './step-config.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** RFC 9110 section 5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const MAX_NAME_LENGTH = 255
/** Headers of the connection, which the HTTP client sets. */
const OWN_HEADERS: readonly string[] = [
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade'],
  ...['te', 'trailer', 'expect'],
]
/** Headers of the signature. */
const OWN_PREFIX = 'webhook-'
const SCHEME = /^\s*([a-z][a-z0-9+.-]*):/i

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

/** The url; '' if it is wrong. The result of a template is checked when it is rendered. */
function readUrl(fields: ConfigFields): string {
  const url = fields.text('url', { max: MAX_URL_LENGTH, isRequired: true })
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
  if (names.length > MAX_HEADERS) {
    fields.fail('headers', 'too_big', `At most ${MAX_HEADERS} headers`)
    return undefined
  }
  const taken = new Set<string>()
  const entries = names.flatMap((name): [string, string][] => {
    const fault = faultOfName(name) ?? (taken.has(name.toLowerCase()) ? 'Occurs twice' : undefined)
    taken.add(name.toLowerCase())
    const shown = name.slice(0, MAX_NAME_LENGTH)
    if (fault !== undefined) headers.fail(shown, 'custom', fault)
    const rule = { max: MAX_HEADER_VALUE_LENGTH, min: 0, isRequired: true }
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
