/** The Gregorian calendar without `Date`, for `formatInstant`: see there for the figures. */

/** The days in 400, 100 and 4 years, and in a year without a leap day. */
const DAYS_400 = 146_097
const DAYS_100 = 36_524
const DAYS_4 = 1461
const DAYS_1 = 365
/** The days from 1 March of the year 0 to 1 January 1970. */
const DAYS_TO_1970 = 719_468
/** The days from March to July, and from August to December: three of five months have 31. */
const DAYS_OF_FIVE_MONTHS = 153

/**
 * Formats a day, counted from 1 January 1970, as YYYY-MM-DD. Years are taken from March to February,
 * so that a leap day is the last day of its year.
 */
export function formatDay(day: number): string {
  let rest = day + DAYS_TO_1970
  const cycles = Math.floor(rest / DAYS_400)
  rest -= cycles * DAYS_400
  const centuries = Math.min(3, Math.floor(rest / DAYS_100))
  rest -= centuries * DAYS_100
  const fours = Math.floor(rest / DAYS_4)
  rest -= fours * DAYS_4
  const years = Math.min(3, Math.floor(rest / DAYS_1))
  rest -= years * DAYS_1
  const fromMarch = Math.floor((5 * rest + 2) / DAYS_OF_FIVE_MONTHS)
  const date = rest - Math.floor((DAYS_OF_FIVE_MONTHS * fromMarch + 2) / 5) + 1
  const isNextYear = fromMarch >= 10
  const month = isNextYear ? fromMarch - 9 : fromMarch + 3
  const year = 400 * cycles + 100 * centuries + 4 * fours + years + (isNextYear ? 1 : 0)
  return `${year}-${padTwo(month)}-${padTwo(date)}`
}

/** Pads to two digits. */
export function padTwo(number: number): string {
  return number < 10 ? `0${number}` : `${number}`
}

/** Pads to three digits. */
export function padThree(number: number): string {
  return number < 100 ? `0${padTwo(number)}` : `${number}`
}
