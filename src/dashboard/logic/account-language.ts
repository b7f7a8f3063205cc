/** Which language a sign-in brings along. */

type Account = { language: string; timezone: string }

/**
 * The language of the account, if the interface has it. New accounts of the command line have `en` and `UTC`:
 * whoever never chose keeps the language of the browser (undefined).
 */
export function languageOfAccount(
  { language, timezone }: Account,
  known: readonly string[],
): string | undefined {
  const code = language.slice(0, 2)
  const isUntouched = code === 'en' && timezone === 'UTC'
  return isUntouched || !known.includes(code) ? undefined : code
}
