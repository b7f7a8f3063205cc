export default function KeyList(_: { onClose(): void }) {
  return null
}
