#!/bin/sh
# Runs in a booted Debian that is thrown away afterwards (scripts/release-packages.sh), with the nodes $1. Installs the
# deb, runs jobs by its units, removes and purges it, and does the same with the rpm.
set -eu
cd /check
nodes=$1
fail() {
	echo "FAILED: $*"
	journalctl --no-pager -n 30 -u 'holdfast*' || true
	exit 1
}
# within waits for a command to succeed.
within() {
	for _ in $(seq 100); do
		! eval "$1" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	fail "not within 20 s: $1"
}
state() {
	echo "$(systemctl is-enabled "$1" 2>/dev/null) $(systemctl is-active "$1")"
}
# What each installation must bring, whatever the packager.
look() {
	[ "$(getent passwd holdfast | cut -d: -f6,7)" = "/var/lib/holdfast:/usr/sbin/nologin" ] || fail "the user: $(getent passwd holdfast)"
	[ "$(state holdfast-cron)" = "disabled inactive" ] || fail "the package enables or starts holdfast-cron: $(state holdfast-cron)"
	[ "$(stat -c '%a %U' /etc/holdfast/environment)" = "600 root" ] || fail "others may read /etc/holdfast/environment"
	[ "$(stat -c '%a %U' /etc/holdfast/jobs)" = "644 root" ] || fail "the rights of /etc/holdfast/jobs are $(stat -c '%a %U' /etc/holdfast/jobs)"
	rm -rf pages
	holdfast man pages
	for page in pages/*.1; do
		[ -s "/usr/share/man/man1/${page#pages/}.gz" ] || fail "no manual page ${page#pages/}"
	done
	for page in /usr/share/man/man1/holdfast*.1.gz; do
		warns=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
		[ -z "$warns" ] || fail "$page: $warns"
	done
	MANPAGER=cat man holdfast-cron | grep -q '^NAME' || fail "man holdfast-cron says nothing"
	bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader holdfast; complete -p holdfast' >/dev/null || fail "bash has no completion for holdfast"
	for file in /usr/share/fish/vendor_completions.d/holdfast.fish /usr/share/doc/holdfast/copyright /usr/share/doc/holdfast/licences.txt; do
		[ -s $file ] || fail "no $file"
	done
	warns=$(systemd-analyze verify holdfast-cron.service holdfast-lead@demo.service 2>&1) || fail "a unit is wrong: $warns"
	[ -z "$warns" ] || fail "a unit is wrong: $warns"
}
# Follows the three steps of the package. The job writes what a job of cron may write.
use() {
	mkdir -p -m 1777 /srv/out
	rm -f /srv/out/* /tmp/job
	echo "HOLDFAST_NODES=$nodes" >>/etc/holdfast/environment
	cat >/usr/local/bin/job <<'END'
#!/bin/sh
echo "$(id -un) in $PWD, HOME=$HOME, $(grep NoNewPrivs /proc/self/status | tr -d '\t')" | tee /tmp/job /srv/out/job "$HOME/job"
END
	chmod 755 /usr/local/bin/job
	echo "every 1s  release-package  /usr/local/bin/job" >>/etc/holdfast/jobs
	systemctl enable --quiet --now holdfast-cron
	within "[ -s /srv/out/job ] && [ -s /tmp/job ] && [ -s /var/lib/holdfast/job ]"
	cat /srv/out/job
	[ "$(cat /tmp/job)" = "holdfast in /var/lib/holdfast, HOME=/var/lib/holdfast, NoNewPrivs:0" ] || fail "the job runs as: $(cat /tmp/job)"
	[ "$(stat -c %U /tmp/job)" = holdfast ] || fail "the job does not run as holdfast"
}

echo "== apt install"
apt-get install -y -qq --no-install-recommends ./*.deb >out.apt 2>&1 || fail "$(cat out.apt)"
sed -n '/Setting up/,$p' out.apt
for words in /etc/holdfast/environment /etc/holdfast/jobs 'systemctl enable --now holdfast-cron' 'as the user holdfast'; do
	grep -qF "$words" out.apt || fail "the package does not mention $words"
done
[ -s /usr/share/zsh/vendor-completions/_holdfast ] || fail "no completion for zsh"
look

echo "== holdfast-cron"
use
systemctl reload holdfast-cron || fail "no reload"
echo "nonsense" >>/etc/holdfast/jobs
! systemctl reload holdfast-cron 2>/dev/null || fail "a reload does not report a mistake"
sed -i '$d' /etc/holdfast/jobs
useradd --system reports
mkdir -p /etc/systemd/system/holdfast-cron.service.d
printf '[Service]\nUser=reports\n' >/etc/systemd/system/holdfast-cron.service.d/override.conf # as systemctl edit does
systemctl daemon-reload
rm -f /srv/out/job /tmp/job
systemctl restart holdfast-cron
within "grep -q '^reports in /var/lib/holdfast' /srv/out/job && grep -q ^reports /tmp/job"
cat /srv/out/job
[ "$(stat -c %U /var/lib/holdfast)" = reports ] || fail "/var/lib/holdfast does not follow the user of the unit"
rm -r /etc/systemd/system/holdfast-cron.service.d /tmp/job /srv/out/job
systemctl daemon-reload
systemctl restart holdfast-cron
within "grep -q ^holdfast /srv/out/job"

echo "== holdfast-lead@demo"
mkdir -p /etc/holdfast/lead
printf '#!/bin/sh\necho "$(id -un) leads in $PWD" >/srv/out/lead\nexec sleep 4711\n' >/etc/holdfast/lead/demo
chmod 755 /etc/holdfast/lead/demo
systemctl start holdfast-lead@demo
within "[ -s /srv/out/lead ]"
cat /srv/out/lead
grep -qs '471[1]' /proc/[0-9]*/cmdline || fail "the leader's program does not run"
[ "$(cat /srv/out/lead)" = "holdfast leads in /var/lib/holdfast" ] || fail "the leader runs as: $(cat /srv/out/lead)"

echo "== an upgrade stops no job"
pid=$(systemctl show -p MainPID --value holdfast-cron)
apt-get install -y -qq --reinstall ./*.deb >out.apt 2>&1 || fail "$(cat out.apt)"
grep '^holdfast:' out.apt
[ "$(systemctl show -p MainPID --value holdfast-cron)" = "$pid" ] || fail "the upgrade restarted holdfast-cron"
grep -q release-package /etc/holdfast/jobs || fail "the upgrade replaced /etc/holdfast/jobs"

echo "== remove, purge"
apt-get remove -y -qq holdfast >out.apt 2>&1 || fail "$(cat out.apt)"
[ "$(state holdfast-cron)" = " inactive" ] || fail "holdfast-cron after the removal: $(state holdfast-cron)"
! grep -qs '471[1]' /proc/[0-9]*/cmdline || fail "the leader's program survived the removal"
[ -e /etc/holdfast/jobs ] && [ -e /var/lib/holdfast/job ] || fail "the removal took the jobs or their files"
rm -r /etc/holdfast/lead
apt-get purge -y -qq holdfast >out.apt 2>&1 || fail "$(cat out.apt)"
left=$(find / -xdev -path /proc -prune -o -path /check -prune -o -name '*holdfast*' -print | grep -v '^/var/\(log\|cache\)/\|^/var/lib/dpkg/info/\|^/var/lib/systemd' || true)
[ -z "$left" ] || fail "the purge left: $left"
[ -z "$(systemctl list-units --all --plain --no-legend 'holdfast*' | grep -v not-found)" ] || fail "the purge left units: $(systemctl list-units --all 'holdfast*')"

echo "== rpm"
userdel holdfast
rpm --install --nodeps ./*.rpm >out.rpm 2>&1 || fail "$(cat out.rpm)" # the database of this rpm does not know Debian's packages
cat out.rpm
grep -qF 'systemctl enable --now holdfast-cron' out.rpm || fail "the rpm says: $(cat out.rpm)"
rpm --verify --nodeps holdfast || fail "files of the rpm differ"
[ -s /usr/share/zsh/site-functions/_holdfast ] || fail "no completion for zsh"
look
use
rpm --erase holdfast >out.rpm 2>&1 || fail "$(cat out.rpm)"
[ "$(state holdfast-cron)" = " inactive" ] || fail "holdfast-cron after the removal: $(state holdfast-cron)"
grep -q release-package /etc/holdfast/jobs.rpmsave || fail "the removal took the jobs"
echo "all passed"
