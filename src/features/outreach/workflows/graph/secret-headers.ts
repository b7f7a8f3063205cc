/**
 * The headers of a WEBHOOK that authenticate its requests. Only callers that see secrets are shown their
 * values (`seesSecrets`). All others see a mask; a mask that is sent back stands for the stored value of the
 * same step and header.
 */
import { type FieldError, invalid } from '../../../../base/errors.ts'
import type { WebhookConfig } from './step-config.ts'

export const MASK = '***'

const SECRET_NAME = /auth|cookie|key|password|secret|signature|token/i
type Config = Record<string, unknown>

export function isSecretHeader(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** The config of any step as callers see it who see no secrets. */
export function maskConfig(config: Config): Config {
  const { headers } = config
  if (!isObject(headers)) return config
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    isSecretHeader(name) ? MASK : value,
  ])
  return { ...config, headers: Object.fromEntries(shown) }
}

export function hasMask({ headers }: Config): boolean {
  return isObject(headers) && Object.entries(headers).some(isMasked)
}

type Given = {
  config: Config
  /** The stored config of the same step; undefined for a new step. */
  stored: Config | undefined
  /** The field of the config. */
  path: string
  /**
   * Whether the caller sees secrets. Any other caller must not send them elsewhere: a mask counts only while
   * the url is what it was: behind one host there may be many receivers, and some pass headers on.
   */
  seesSecrets: boolean
}

/**
 * The config with the stored values in the place of masks.
 * @throws AppError VALIDATION_ERROR for a mask without a stored value
 */
export function unmaskConfig({ config, stored, path, seesSecrets }: Given): Config {
  const { headers } = config
  if (!isObject(headers) || !hasMask(config)) return config
  const known = headersOf(stored)
  const mayKeep = seesSecrets || urlOf(config) === urlOf(stored)
  const errors: FieldError[] = []
  const entries = Object.entries(headers).map(([name, value]) => {
    if (!isMasked([name, value])) return [name, value]
    const kept = known.get(name.toLowerCase())
    const fault = kept === undefined ? NOTHING_STORED : mayKeep ? undefined : OTHER_TARGET
    if (fault === undefined) return [name, kept]
    errors.push({ field: `${path}.headers.${name}`, code: 'masked', message: fault })
    return [name, value]
  })
  if (errors.length > 0) throw invalid(errors)
  return { ...config, headers: Object.fromEntries(entries) }
}

const NOTHING_STORED = `${MASK} stands for a stored value, and this step has none: give the value`
const OTHER_TARGET = `${MASK} stands for a value that belongs to the url as it was: give the value again`

function isMasked([name, value]: [string, unknown]): boolean {
  return value === MASK && isSecretHeader(name)
}

/** By lower-case name. */
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
