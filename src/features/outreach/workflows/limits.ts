/** Limits of the definition of a workflow. */
import { DAY_MS } from '../../../base/clock.ts'

/** The most steps, and the most transitions, of one workflow. */
export const MAX_STEPS = 1_000
export const MAX_TRANSITIONS = 3_000

/**
 * The most enabled workflows of a project that one event starts, because it starts all of them in
 * one transaction.
 */
export const MAX_WORKFLOWS_PER_EVENT = 100

/** The most bytes of JSON of one step's config, and of all configs of a workflow together. */
export const MAX_CONFIG_BYTES = 256 * 1024
export const MAX_CONFIGS_BYTES = 4 * 1024 * 1024

/**
 * Chains: an execution makes an event, the event starts an execution, and so on. An execution
 * starts only if at most this many executions come before it in its chain.
 */
export const MAX_CHAIN_DEPTH = 5

/** The most executions of chains that begin in a project in a minute; further ones wait. */
export const MAX_CHAIN_STARTS_PER_MINUTE = 1_000

/** The largest `answersPerDay` of a trigger. */
export const MAX_ANSWERS_PER_DAY = 1_000

/** The most levels of lists and objects in a config. */
export const MAX_CONFIG_DEPTH = 20

/** The longest DELAY, whatever its unit. */
export const MAX_DELAY_MS = 365 * DAY_MS

/** The longest timeout of a WAIT_FOR_EVENT, in seconds. */
export const MAX_TIMEOUT_SECONDS = 31_536_000

/** The most branches of a CONDITION beside `default`. */
export const MAX_BRANCHES = 20

/** The most characters of the field of a CONDITION, and of the id and name of a branch. */
export const MAX_FIELD_LENGTH = 500
export const MAX_BRANCH_TEXT_LENGTH = 100

/** The most characters of the url of a WEBHOOK, and of the value of a header. */
export const MAX_STEP_URL_LENGTH = 4_096
export const MAX_STEP_HEADER_VALUE_LENGTH = 8_192
export const MAX_STEP_HEADERS = 50

/** The most placeholders and tags of all templates of a step together. */
export const MAX_MARKERS_PER_STEP = 1_000

/** The most characters of the reason of an EXIT. */
export const MAX_REASON_LENGTH = 255

/** The most characters of a cron expression, and of the name of a time zone. */
export const MAX_SCHEDULE_LENGTH = 100
export const MAX_TIMEZONE_LENGTH = 64
