/**
 * Makes the HTTP message of a WEBHOOK step. The url, the values of headers and every string in the
 * body are templates, which are rendered in a thread; the method is no template. Values in the url
 * are percent-encoded by their place. Without a configured body, the message has a default body
 * about contact, workflow, execution and event. A GET has no body.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { oneFieldLine } from '../../../../formats/one-line.ts'
import { type PlacedUrl, placeUrlValues } from '../../../../formats/template/url-values.ts'
import type { Variables } from '../../../../formats/template/variables.ts'
import type { TextTemplate } from '../../../../outbound/protocol.ts'
import { sql } from '../../../../store/drizzle.ts'
import { workflowRequests } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { runFor } from '../../../../turns/owner.ts'
import type { Base } from '../../../ground/base.ts'
import { hasTemplateMarker, mapTexts } from '../graph/step-templates.ts'
import { STEP_ERRORS } from '../reasons.ts'
import { executionVariables } from '../variables.ts'
import type { LoadedRequest, StepHttpRequest } from './load.ts'

type RenderOutcome = { message: StepHttpRequest } | { error: string; message: StepHttpRequest }

type Deps = Pick<Base, 'config' | 'keyring' | 'outbound' | 'now'>

const MAX_BODY_BYTES = 1024 * 1024
const MAX_URL_LENGTH = 8_192
const MAX_HEADER_BYTES = 16 * 1024
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/

/**
 * Renders the message of a request once and stores it before the first attempt, so that each
 * attempt sends the same message under the same id. Returns undefined if the request is gone.
 */
export type Prepare = (loaded: LoadedRequest) => Promise<RenderOutcome | undefined>

type PrepareDeps = Pick<Base, 'store' | 'config' | 'keyring' | 'outbound' | 'now'>

async function renderRequest(deps: Deps, loaded: LoadedRequest): Promise<RenderOutcome> {
  const { config } = loaded
  const { url: source, method } = config
  const rendered = await runFor({ key: loaded.projectId, isJob: true }, () =>
    renderStrings(
      deps,
      config,
      executionVariables(deps, { ...loaded, context: loaded.execution.context }),
    ),
  )
  if (rendered === undefined) {
    const message = { url: source, method, headers: {}, body: null }
    return { error: STEP_ERRORS.step_templates_too_heavy, message }
  }
  const { placed, headers, body } = rendered
  const rest = {
    method,
    headers: toHeaders(headers),
    body: bodyOf(loaded, config.body === undefined ? undefined : body),
  }
  if ('fault' in placed) return { error: placed.fault, message: { url: source, ...rest } }
  const message = { url: placed.url.trim(), ...rest }
  const error = problemOf(message)
  return error === undefined ? { message } : { error, message }
}

type RenderedStrings = { placed: PlacedUrl; headers: Record<string, string>; body: unknown }

/** Renders the url, and all strings in headers and body; undefined if that takes too long. */
async function renderStrings(
  { outbound, now }: Pick<Deps, 'outbound' | 'now'>,
  { url, headers = {}, body = null }: LoadedRequest['config'],
  variables: Variables,
): Promise<RenderedStrings | undefined> {
  const isUrlTemplate = hasTemplateMarker(url)
  const templates: TextTemplate[] = isUrlTemplate ? [{ source: url, format: 'url' }] : []
  mapTexts([headers, body], (source) => {
    if (hasTemplateMarker(source)) templates.push({ source, format: 'text' })
    return source
  })
  if (templates.length === 0) return { placed: { url }, headers, body }
  const texts = await outbound.renderTexts({ templates, variables, at: now() })
  if (texts === 'too heavy') return undefined
  let next = 0
  const placed = isUrlTemplate ? placeWithinLimit(texts[next++] ?? '') : { url }
  const fill = (source: string) => (hasTemplateMarker(source) ? (texts[next++] ?? '') : source)
  const filled = mapTexts([headers, body], fill) as [Record<string, string>, unknown]
  return { placed, headers: filled[0], body: filled[1] }
}

/**
 * Puts the values into the url. The marked url may have three times the limit, because each value
 * has two marks, and at least one character of its own.
 */
function placeWithinLimit(marked: string): PlacedUrl {
  if (marked.length <= 3 * MAX_URL_LENGTH) return placeUrlValues(marked)
  return { fault: `the rendered url is longer than ${MAX_URL_LENGTH} characters` }
}

function bodyOf(loaded: LoadedRequest, body: unknown): string | null {
  if (loaded.config.method === 'GET') return null
  if (body === undefined) return JSON.stringify(defaultPayload(loaded))
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function defaultPayload({ contact, workflow, execution }: LoadedRequest) {
  const { address: email, subscribed, data } = contact
  return {
    contact: { email, subscribed, data },
    workflow: { id: workflow.id, name: workflow.name },
    execution: { id: execution.id, startedAt: formatInstant(execution.startedAt) },
    event: execution.context,
  }
}

/**
 * Returns the headers with names in lower case. Headers of the signature are left out, because only
 * Pillarbox sets them.
 */
function toHeaders(given: Record<string, string>): Record<string, string> {
  const headers = new Map([
    ['content-type', 'application/json'],
    ['user-agent', 'Pillarbox-Webhooks'],
  ])
  for (const [name, value] of Object.entries(given)) {
    const lower = name.trim().toLowerCase()
    if (HEADER_NAME.test(lower) && !lower.startsWith('webhook-')) headers.set(lower, toValue(value))
  }
  return Object.fromEntries(headers)
}

/**
 * Makes the value of a header from a text: in one line, with each octet of its UTF-8 as a
 * character.
 */
function toValue(text: string): string {
  return Buffer.from(oneFieldLine(text)).toString('latin1')
}

function problemOf({ url, headers, body }: StepHttpRequest): string | undefined {
  const protocol = url.length <= MAX_URL_LENGTH ? URL.parse(url)?.protocol : undefined
  if (protocol !== 'http:' && protocol !== 'https:')
    return 'the rendered url is not an http or https URL'
  if (body !== null && Buffer.byteLength(body) > MAX_BODY_BYTES)
    return 'the rendered body is larger than 1 MB'
  const sizes = Object.entries(headers).map(([name, value]) => name.length + value.length)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return total > MAX_HEADER_BYTES ? 'the rendered headers are larger than 16 KB' : undefined
}

const storeMessage = statement((db) =>
  db
    .update(workflowRequests)
    .set({ request: parameter('request') })
    .where(
      sql`${workflowRequests.executionNumber} = ${parameter('number')}
        and ${workflowRequests.stepExecutionId} = ${parameter('stepExecutionId')}`,
    ),
)

export function createPrepare(deps: PrepareDeps): Prepare {
  return async (loaded) => {
    const { request, number, stepExecutionId } = loaded
    if (request !== null) return { message: request }
    const outcome = await renderRequest(deps, loaded)
    if ('error' in outcome) return outcome
    const values = { number, stepExecutionId, request: outcome.message }
    const stored = await deps.store.write((tx) => tx.execute(storeMessage, values))
    return stored === 0 ? undefined : outcome
  }
}
