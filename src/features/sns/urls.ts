/**
 * The two addresses in a message of SNS that we may be made to ask. Read as text before they are
 * read as URLs: user names, ports, back slashes, other letters' dots and whatever else a parser
 * forgives are simply not in the pattern.
 */
const SNS_URL =
  /^https:\/\/(sns\.[a-z]{2,4}(?:-[a-z]{2,12}){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?)\/([!-~]*)$/

/** One file at the top, nothing behind it. */
const CERTIFICATE_FILE = /^[\w-][\w.-]{0,200}\.pem$/

/** Undefined unless it is a certificate file of SNS. */
export function parseCertificateUrl(text: string): URL | undefined {
  const path = pathOf(text)
  return path !== undefined && CERTIFICATE_FILE.test(path) ? new URL(text) : undefined
}

/** Undefined unless it does nothing but confirm a subscription to this very topic. */
export function parseSubscribeUrl(text: string, topicArn: string): URL | undefined {
  if (!pathOf(text)?.startsWith('?')) return undefined
  const url = new URL(text)
  const isConfirmation =
    url.hash === '' &&
    isOnly(url, 'Action', 'ConfirmSubscription') &&
    isOnly(url, 'TopicArn', topicArn)
  return isConfirmation ? url : undefined
}

/** What stands behind the first slash; undefined for any other host. */
function pathOf(text: string): string | undefined {
  const [, host, path] = SNS_URL.exec(text) ?? []
  if (host === undefined || path === undefined) return undefined
  return URL.parse(text)?.hostname === host ? path : undefined
}

function isOnly(url: URL, name: string, value: string): boolean {
  const values = url.searchParams.getAll(name)
  return values.length === 1 && values[0] === value
}
