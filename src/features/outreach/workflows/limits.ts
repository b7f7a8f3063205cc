/** Limits of the definition of a workflow. */
import { DAY_MS } from '../../../base/clock.ts'

/** Steps and transitions of one workflow. */
export const MAX_STEPS = 1_000
export const MAX_TRANSITIONS = 3_000

/** Enabled workflows of a project that one event starts: an event starts all of them in one transaction. */
export const MAX_WORKFLOWS_PER_EVENT = 100

/** Bytes of JSON of one step's config, and of the configs of a workflow together. */
export const MAX_CONFIG_BYTES = 256 * 1024
export const MAX_CONFIGS_BYTES = 4 * 1024 * 1024

/**
 * Chains: an execution makes an event, the event starts an execution, and so on. No start has more
 * executions before it.
 */
export const MAX_CHAIN_DEPTH = 5

/** Executions of chains that begin in a project in a minute; the others wait. */
export const MAX_CHAIN_STARTS_PER_MINUTE = 1_000

/** The largest `answersPerDay` of a trigger. */
export const MAX_ANSWERS_PER_DAY = 1_000

/** Levels of lists and objects in a config. */
export const MAX_CONFIG_DEPTH = 20

/** A DELAY, in all units. */
export const MAX_DELAY_MS = 365 * DAY_MS

/** Seconds of the timeout of a WAIT_FOR_EVENT. */
export const MAX_TIMEOUT_SECONDS = 31_536_000

/** Branches of a CONDITION beside `default`. */
export const MAX_BRANCHES = 20

/** Characters of the field of a CONDITION, and of the id and name of a branch. */
export const MAX_FIELD_LENGTH = 500
export const MAX_BRANCH_TEXT_LENGTH = 100

/** Characters of the url of a WEBHOOK and of the value of a header. */
export const MAX_STEP_URL_LENGTH = 4_096
export const MAX_STEP_HEADER_VALUE_LENGTH = 8_192
export const MAX_STEP_HEADERS = 50

/** Placeholders and tags of all templates of a WEBHOOK. */
export const MAX_MARKERS_PER_STEP = 1_000

/** Characters of the reason of an EXIT. */
export const MAX_REASON_LENGTH = 255

/** Characters of a cron expression and of the name of a time zone. */
export const MAX_SCHEDULE_LENGTH = 100
export const MAX_TIMEZONE_LENGTH = 64
