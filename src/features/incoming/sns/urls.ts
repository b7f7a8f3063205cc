/**
 * Checks the two URLs in a message of SNS that this server fetches. A pattern checks the text before it
 * is parsed as a URL, so user names, ports, backslashes, full-width dots and everything else that URL
 * parsers tolerate never match.
 */
const SNS_URL =
  /^https:\/\/(sns\.[a-z]{2,4}(?:-[a-z]{2,12}){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?)\/([!-~]*)$/

/** One file in the root, without a query. */
const CERTIFICATE_FILE = /^[\w-][\w.-]{0,200}\.pem$/

/** Returns undefined unless the URL is a certificate file of SNS. */
export function parseCertificateUrl(text: string): URL | undefined {
  const path = pathOf(text)
  return path !== undefined && CERTIFICATE_FILE.test(path) ? new URL(text) : undefined
}

/** Returns undefined unless the URL only confirms a subscription to `topicArn`. */
export function parseSubscribeUrl(text: string, topicArn: string): URL | undefined {
  if (!pathOf(text)?.startsWith('?')) return undefined
  const url = new URL(text)
  const isConfirmation =
    url.hash === '' &&
    isOnly(url, 'Action', 'ConfirmSubscription') &&
    isOnly(url, 'TopicArn', topicArn)
  return isConfirmation ? url : undefined
}

/** Returns the text after the first slash; undefined for any other host. */
function pathOf(text: string): string | undefined {
  const [, host, path] = SNS_URL.exec(text) ?? []
  if (host === undefined || path === undefined) return undefined
  return URL.parse(text)?.hostname === host ? path : undefined
}

function isOnly(url: URL, name: string, value: string): boolean {
  const values = url.searchParams.getAll(name)
  return values.length === 1 && values[0] === value
}
