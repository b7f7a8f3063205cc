/** Names that only the service itself gives to events (contract 1.2). */
export function isReservedEvent(name: string): boolean {
  if (name.startsWith('email.')) return true
  if (name === 'contact.subscribed' || name === 'contact.unsubscribed') return true
  return name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit'))
}
