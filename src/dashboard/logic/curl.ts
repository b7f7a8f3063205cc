/** The command that sends a first mail: the list without mail shows it too, and needs no other program. */

/** The variable that holds the secret key, so that no key stands in a program. */
export const KEY_VARIABLE = 'PILLARBOX_KEY'

export type FirstMail = { from: string; to: string; subject: string; body: string }

/** `url`: the address of the API, without a slash at its end. */
export function writeCurl(url: string, { from, to, subject, body }: FirstMail): string {
  return `curl ${shellWord(`${url}/v1/send`)} \\
  -H "Authorization: Bearer $${KEY_VARIABLE}" \\
  -H "Content-Type: application/json" \\
  -d ${shellWord(`{"to": ${jsonText(to)}, "from": ${jsonText(from)},
       "subject": ${jsonText(subject)}, "body": ${jsonText(body)}}`)}`
}

/** A string of JSON, which JavaScript and Python read too. */
export function jsonText(text: string): string {
  return JSON.stringify(text)
}

/** One word of a POSIX shell. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}
