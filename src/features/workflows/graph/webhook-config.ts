/**
 * The config of a WEBHOOK (contract 5.6). The url, the values of headers and every text in the body are
 * templates; their syntax is checked on saving, as that of templates is.
 */
import { AppError, invalidField } from '../../../errors.ts'
import { countMarkers } from '../../../mail/template/template.ts'
import type { Base } from '../../base.ts'
import { findTemplateFault } from '../../templates/validate.ts'
import {
  MAX_HEADER_VALUE_LENGTH,
  MAX_HEADERS,
  MAX_MARKERS_PER_STEP,
  MAX_URL_LENGTH,
} from '../limits.ts'
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

/**
 * Checks the templates of the config of any step. `path` is the field of the config.
 * @throws AppError VALIDATION_ERROR (too many placeholders); BAD_REQUEST for template syntax, with
 *   `details` `{ field, line, column }`
 */
export async function checkTemplates(
  deps: Pick<Base, 'outbound'>,
  config: WebhookConfig,
  path: string,
): Promise<void> {
  requireFewMarkers(config, path)
  const texts = [...templatesOf(config, path)].filter(([, text]) => countMarkers(text) > 0)
  for (const [field, text] of texts) {
    const fault = await findTemplateFault(deps, text)
    if (fault === undefined) continue
    if (fault === 'too heavy') {
      throw invalidField(
        field,
        'too_complex',
        'The template takes too much time or memory to parse',
      )
    }
    const { line, column, message } = fault
    const place = `line ${line}, column ${column}`
    throw new AppError('BAD_REQUEST', `The template in ${field} has a fault in ${place}.`, {
      fields: [{ field, code: 'template_syntax', message: `In ${place}: ${message}` }],
      details: { field, line, column },
    })
  }
}

/** @throws AppError VALIDATION_ERROR */
export function requireFewMarkers(config: WebhookConfig, path: string): void {
  let markers = 0
  for (const [, text] of templatesOf(config, path)) markers += countMarkers(text)
  if (markers <= MAX_MARKERS_PER_STEP) return
  throw invalidField(path, 'too_big', `More than ${MAX_MARKERS_PER_STEP} placeholders and tags`)
}

function* templatesOf(
  config: WebhookConfig,
  path: string,
): Generator<[field: string, text: string]> {
  yield [`${path}.url`, config.url]
  yield* textsIn(config.headers ?? {}, `${path}.headers`)
  yield* textsIn(config.body, `${path}.body`)
}

function* textsIn(value: unknown, path: string): Generator<[field: string, text: string]> {
  if (typeof value === 'string') yield [path, value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) yield* textsIn(item, `${path}.${key}`)
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
  const headers = fields.object('headers')
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
