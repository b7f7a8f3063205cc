/** `log level`: shows the level of the running server's log, or changes it for a while. */
import { formatInstant, formatOptionalInstant, MINUTE_MS } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { parseDuration } from '../config/values/durations.ts'
import { LOG_LEVELS, type LogLevelState } from '../features/operation/log-level.ts'
import { askServer } from '../features/operation/questions/ask.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'

const DEFAULT_MS = 10 * MINUTE_MS
const MAX_MS = 24 * 60 * MINUTE_MS

export async function logLevelCommand(context: CommandContext, input: Input): Promise<Result> {
  const change = readChange(input)
  return withCore(context, async (core) => {
    const question = change === undefined ? {} : { change }
    const asked = await askServer(core, { kind: 'log-level', question })
    if (asked.server === 'none') {
      throw new AppError('CONFLICT', 'No server runs on this database, so there is no log.', {
        suggestion: 'The level that a server starts with is log.level in the configuration.',
      })
    }
    if (asked.server === 'silent') {
      throw new AppError('EXTERNAL_SERVICE_ERROR', 'The server did not answer within 2 s.')
    }
    const { until, ...levels } = asked.answer
    const json = { ...levels, until: formatOptionalInstant(until) }
    return { json, text: describe(asked.answer) }
  })
}

/**
 * Reads the new level and its duration from the options.
 * @throws UsageError
 */
function readChange(input: Input) {
  const [given] = input.args
  const duration = input.text('for')
  if (given === undefined) {
    if (duration !== undefined) throw new UsageError('--for: it needs a level')
    return undefined
  }
  const level = LOG_LEVELS.find((each) => each === given.toLowerCase())
  if (level === undefined) throw new UsageError(`expected a level: ${LOG_LEVELS.join(', ')}`)
  const forMs = duration === undefined ? DEFAULT_MS : parseDuration(duration.trim())
  if (forMs === undefined || forMs < 1 || forMs > MAX_MS) {
    throw new UsageError('--for: expected a duration of at most a day, such as 10m or 2h')
  }
  return { level, forMs }
}

function describe({ level, configured, until }: LogLevelState): string {
  if (until === null) return `The level of the log is ${level}, as configured.`
  return `The level of the log is ${level} until ${formatInstant(until)}, then ${configured} again.`
}
