// Trades the secret behind the # for a cookie, and takes it out of the address before anything else.
const link = location.hash.slice(1);
history.replaceState(null, "", "/login");
const status = document.querySelector("[role=status]");
if (link === "") {
  status.textContent = "This page is opened by a link. Get one with: moot ui";
} else {
  const answer = await fetch("/api/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ link }),
  });
  if (answer.ok) {
    location.replace("/");
  } else {
    const { error } = await answer.json();
    status.textContent = `${error.message} ${error.remedy}`;
  }
}
