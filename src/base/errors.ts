/**
 * Every error that clients see: a stable code, the HTTP status, the SMTP reply of submission, and a
 * suggestion. Each edge turns an `AppError` into a response in one place. Any other thrown value
 * becomes an INTERNAL_SERVER_ERROR; its details go to the log only.
 *
 * No code throws INVALID_CREDENTIALS, because a refused login is a 200, nor UPGRADE_REQUIRED: whoever may
 * send more says BILLING_LIMIT_EXCEEDED. Clients of this API family expect them.
 */
type ErrorMeaning = { status: number; smtp: string; suggestion?: string }

const ERROR_MEANINGS = {
  UNAUTHORIZED: { status: 401, smtp: '535 5.7.8', suggestion: 'Log in and try again.' },
  MISSING_AUTH: {
    status: 401,
    smtp: '530 5.7.0',
    suggestion: 'Send the header "Authorization: Bearer <API_KEY>".',
  },
  INVALID_API_KEY: {
    status: 401,
    smtp: '535 5.7.8',
    suggestion:
      'Check the key: secret keys begin with sk_ and open every endpoint, public keys begin with pk_ and open POST /v1/track only.',
  },
  INVALID_CREDENTIALS: { status: 401, smtp: '535 5.7.8' },
  FORBIDDEN: {
    status: 403,
    smtp: '550 5.7.1',
    suggestion: 'Check that the resource belongs to this project and that its domain is verified.',
  },
  PROJECT_ACCESS_DENIED: { status: 403, smtp: '550 5.7.1' },
  PROJECT_DISABLED: {
    status: 403,
    smtp: '550 5.7.1',
    suggestion: 'Ask the operator of this server why the project was disabled.',
  },
  EMAIL_VERIFICATION_REQUIRED: { status: 403, smtp: '550 5.7.1' },
  RESOURCE_NOT_FOUND: { status: 404, smtp: '550 5.1.1' },
  CONTACT_NOT_FOUND: { status: 404, smtp: '550 5.1.1' },
  TEMPLATE_NOT_FOUND: {
    status: 404,
    smtp: '550 5.1.1',
    suggestion: 'Check the template id: it must be a template of this project.',
  },
  CAMPAIGN_NOT_FOUND: { status: 404, smtp: '550 5.1.1' },
  WORKFLOW_NOT_FOUND: { status: 404, smtp: '550 5.1.1' },
  CONFLICT: { status: 409, smtp: '550 5.5.1' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    smtp: '550 5.5.1',
    suggestion: 'Use a new Idempotency-Key for a new request; the earlier one took effect.',
  },
  BAD_REQUEST: { status: 400, smtp: '550 5.6.0' },
  VALIDATION_ERROR: {
    status: 422,
    smtp: '550 5.6.0',
    suggestion: 'Correct the fields listed in errors and send the request again.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    smtp: '451 4.7.1',
    suggestion: 'Wait as long as the Retry-After header says.',
  },
  BILLING_LIMIT_EXCEEDED: { status: 402, smtp: '452 4.7.1' },
  UPGRADE_REQUIRED: { status: 402, smtp: '550 5.7.1' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    smtp: '550 5.5.1',
    suggestion: 'Use one of the methods in the Allow header.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    smtp: '451 4.4.2',
    suggestion: 'Nothing was accepted. Send the whole request without long pauses.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, smtp: '552 5.3.4' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, smtp: '550 5.6.1' },
  MISDIRECTED_REQUEST: {
    status: 421,
    smtp: '550 5.7.1',
    suggestion: 'If the host is this server, an operator adds it to http.allowed_hosts.',
  },
  REQUEST_HEADER_FIELDS_TOO_LARGE: { status: 431, smtp: '552 5.3.4' },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    smtp: '451 4.3.0',
    suggestion:
      'Try again. If the error persists, give the requestId to the operator of this server.',
  },
  NOT_IMPLEMENTED: { status: 501, smtp: '502 5.5.1' },
  DATABASE_ERROR: {
    status: 503,
    smtp: '451 4.3.0',
    suggestion: 'Nothing was accepted. Try again in a moment.',
  },
  INSUFFICIENT_STORAGE: {
    status: 503,
    smtp: '452 4.3.1',
    suggestion:
      'Nothing was accepted: the disk of this server is nearly full. Reading and deleting still work.',
  },
  EXTERNAL_SERVICE_ERROR: { status: 503, smtp: '451 4.4.3', suggestion: 'Try again in a moment.' },
} as const satisfies Record<string, ErrorMeaning>

type ErrorCode = keyof typeof ERROR_MEANINGS

export const ERROR_CODES: readonly string[] = Object.keys(ERROR_MEANINGS)

/** One invalid field: its dot path, a text for people, a code for programs. */
export type FieldError = { field: string; message: string; code: string; received?: unknown }

/** A warning about a field: the request took effect without it, or not as it was meant. */
export type FieldWarning = {
  /** The dot path of the field. */
  field: string
  message: string
  /** The name or the change that was probably meant. */
  suggestion: string | null
}

/** A name in a request that nothing reads. */
export type UnknownName = {
  /** The path of the object that has the name. */
  path: readonly string[]
  name: string
  /** The names that are known at that place. */
  known: readonly string[]
  /**
   * Whether the value is null, false, 0, or an empty text or list: programs write an absent option in this
   * way.
   */
  isEmpty?: boolean
  /** The text that replaces `There is no such field`. */
  text?: string
}

type ErrorContext = {
  /** The underlying error; logged, never shown. */
  cause?: unknown
  fields?: FieldError[]
  /** Facts for programs (`error.details`). */
  details?: Record<string, unknown>
  suggestion?: string
  /** Overrides the status of the code: malformed JSON is a VALIDATION_ERROR with status 400. */
  status?: number
  /**
   * Refused only because there are too many such requests at a time. It is counted, and neither logged nor
   * recorded: a flood must not fill the disk.
   */
  isOverload?: boolean
  /** Overrides the SMTP reply of the code. */
  smtp?: string
}

/** `publicText` is safe for clients: no SQL, hosts, paths or addresses of others. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly status: number
  readonly smtp: string
  readonly suggestion: string | undefined
  readonly fields: FieldError[] | undefined
  readonly details: Record<string, unknown> | undefined
  readonly isOverload: boolean

  constructor(code: ErrorCode, publicText: string, context: ErrorContext = {}) {
    super(publicText, context.cause === undefined ? undefined : { cause: context.cause })
    const meaning: ErrorMeaning = ERROR_MEANINGS[code]
    this.code = code
    this.status = context.status ?? meaning.status
    this.smtp = context.smtp ?? meaning.smtp
    this.suggestion = context.suggestion ?? meaning.suggestion
    this.fields = context.fields
    this.details = context.details
    this.isOverload = context.isOverload ?? false
  }
}

/**
 * A VALIDATION_ERROR (422) with one entry for each field that breaks a declared shape or limit. Its text is
 * the first of them, because many clients show nothing else: `from: required`.
 */
export function invalid(fields: FieldError[], text = firstFault(fields)): AppError {
  return new AppError('VALIDATION_ERROR', text, { fields })
}

/** Whether a thrown value is a VALIDATION_ERROR: the input is at fault. */
export function isInvalid(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'VALIDATION_ERROR'
}

/** The most characters of the text of a refusal, which the request log keeps. */
const MAX_FAULT_LENGTH = 300

/** Returns one line: a field may have a name from the request, with any characters. */
function firstFault([first]: readonly FieldError[]): string {
  if (first === undefined) return 'The request is not valid.'
  const { field, message } = first
  const text = field === '' ? message : `${field}: ${lowerFirst(message)}`
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
  return line.length > MAX_FAULT_LENGTH ? `${line.slice(0, MAX_FAULT_LENGTH)}…` : line
}

/** Keeps abbreviations, such as `URL`, and what stands in quotes. */
function lowerFirst(text: string): string {
  return /^[A-Z](?![A-Z])/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}

/** No such resource is visible to the caller. `error.details` holds its kind and id. */
export function notFound(resource: string, id: string | number, publicText: string): AppError {
  return new AppError('RESOURCE_NOT_FOUND', publicText, { details: { resource, id } })
}

/** The text of `invalid_type`. `expected`, `received`: names of types, as `string or number`. */
export function wrongTypeText(expected: string, received: string): string {
  return `Expected ${expected}, received ${received}`
}

/** The text of `invalid_type` for a required field: `Required` if the field is missing. */
export function wrongOrMissingText(expected: string, received: string): string {
  return received === 'undefined' ? 'Required' : wrongTypeText(expected, received)
}

/** Makes the error of `invalid` with a single field. */
export function invalidField(field: string, code: string, message: string): AppError {
  return invalid([{ field, message, code }])
}

/** The cursor of a page is unknown, or is one of another list. */
export function unknownCursor(): AppError {
  return invalidField('cursor', 'custom', 'The cursor does not belong to this list')
}

/** The message of a field that is longer than `max`. */
export function tooLongText(max: number): string {
  return `Must be at most ${max} characters long`
}

/** The message of a field that must be one line. */
export const NOT_ONE_LINE_TEXT = 'Must not contain line breaks or control characters'

/** Whether a thrown value is an error of the system or of Node with this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** The message of a thrown value, for logs and stored error texts. */
export function describeError(error: unknown): string {
  if (error instanceof Error) return error.message || error.name
  return String(error)
}
