/**
 * The bounces and complaints of a project that show a warning or disable it. Percentages count in 7 days
 * and for all time; numbers count in 24 hours and 7 days, with lower limits for young projects.
 */
import { type Setting, setting } from './setting.ts'
import * as kind from './values/kinds.ts'

/** The defaults of a pair of limits. */
type Limits = readonly [warning: number, critical: number]
type Level = 'warning' | 'critical'
type Settings<Key extends string> = Record<Key, Setting<number>>

const YOUNG = 'a project younger than 30 days'
const ALL_TIME = 'since the project was created or enabled'

export const securityLimits = {
  ...percentages('bounce_7d', 'hard bounces in 7 days', [5, 10]),
  ...percentages('bounce_all', `hard bounces ${ALL_TIME}`, [4, 8]),
  ...percentages('complaint_7d', 'complaints in 7 days', [0.075, 0.15]),
  ...percentages('complaint_all', `complaints ${ALL_TIME}`, [0.03, 0.12]),
  ...numbers('bounce_24h', 'hard bounces of a project in 24 hours', [50, 100]),
  ...numbers('bounce_7d', 'hard bounces of a project in 7 days', [200, 500]),
  ...numbers('complaint_24h', 'complaints of a project in 24 hours', [10, 25]),
  ...numbers('complaint_7d', 'complaints of a project in 7 days', [30, 75]),
  ...numbers('young_bounce_24h', `hard bounces of ${YOUNG} in 24 hours`, [10, 25]),
  ...numbers('young_bounce_7d', `hard bounces of ${YOUNG} in 7 days`, [25, 50]),
  ...numbers('young_complaint_24h', `complaints of ${YOUNG} in 24 hours`, [3, 7]),
  ...numbers('young_complaint_7d', `complaints of ${YOUNG} in 7 days`, [10, 20]),
}

/**
 * The settings `security.<name>_warning_percent` and `security.<name>_critical_percent`. `events`: the events
 * that count, in words.
 */
function percentages<Name extends string>(
  name: Name,
  events: string,
  [warning, critical]: Limits,
): Settings<`security.${Name}_${Level}_percent`> {
  const limit = (byDefault: number, effect: string) =>
    setting(kind.percentage, byDefault, `Percentage of ${events} that ${effect}; 0: never.`)
  return {
    [`security.${name}_warning_percent`]: limit(warning, 'shows a warning'),
    [`security.${name}_critical_percent`]: limit(critical, 'disables a project'),
  } as Settings<`security.${Name}_${Level}_percent`>
}

/** The settings `security.<name>_warning` and `security.<name>_critical`. */
function numbers<Name extends string>(
  name: Name,
  events: string,
  [warning, critical]: Limits,
): Settings<`security.${Name}_${Level}`> {
  const limit = (byDefault: number, effect: string) =>
    setting(kind.count, byDefault, `Number of ${events} that ${effect}; 0: never.`)
  return {
    [`security.${name}_warning`]: limit(warning, 'shows a warning'),
    [`security.${name}_critical`]: limit(critical, 'disables it'),
  } as Settings<`security.${Name}_${Level}`>
}
